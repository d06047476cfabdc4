"""What a plan is and how it moves: pure, without clock, input or output. Start reading at :mod:`.transitions`."""
