"""The dashboard in a real browser: Debian's Chromium with the driver of the same package."""
