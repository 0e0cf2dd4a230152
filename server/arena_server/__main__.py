"""`python -m arena_server`: the `arena` command where it is not on the path."""

from arena_server.cli import main

main()
