"""One game: the match state machine, its clocks, and the driver that feeds it."""
