"""GitHub's published descriptions, trimmed by ``trim``; licences in NOTICE."""
