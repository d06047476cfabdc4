"""The bot from afar: a client of its REST API, and what people and programs do with it."""
