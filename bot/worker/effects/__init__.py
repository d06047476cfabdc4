"""What the worker does towards GitHub: a function an effect, found by :mod:`bot.worker.deliver`."""
