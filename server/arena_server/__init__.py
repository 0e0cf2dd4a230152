"""The arena: referee, tournaments, ratings, and the `arena` command."""
