"""Pictures of typical threads for the documentation, and what can be measured of a page in a browser."""
