"""Every sentence a user reads: :mod:`.render` fills the templates beside it, and no text is longer than its place."""
