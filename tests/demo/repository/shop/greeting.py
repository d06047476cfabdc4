"""What a visitor reads first."""


def greet(name):
    """Return the greeting for a visitor."""
    return f"Hello, {name}!"
