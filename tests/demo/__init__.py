"""The demo: three issues from label to merge, on this machine alone. ``python -m tests.demo --help``."""
