"""Gates: what work must pass before a person sees it."""
