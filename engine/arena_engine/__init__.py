"""Rules of games: standard library only, no I/O, no clock, no thread."""
