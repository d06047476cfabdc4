"""The GitHub App: web and worker."""
