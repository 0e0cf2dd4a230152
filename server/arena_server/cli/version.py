"""`arena version`."""

from __future__ import annotations

from arena_server.cli.options import AsJson


def version(*, as_json: AsJson = False) -> None:
    """Show the versions of the arena and of what it plays."""
    import platform
    from importlib import metadata

    from arena_engine.game import find
    from arena_server.cli.output import show_json

    games = {point.name: find(point.name).rules for point in metadata.entry_points(group="arena.games")}
    arena, python = metadata.version("patchwork-arena"), platform.python_version()
    if as_json:
        show_json({"arena": arena, "python": python, "games": games})
        return
    rules = ", ".join(f"{name} (rules {number})" for name, number in sorted(games.items()))
    print(f"arena {arena}, Python {python}; plays {rules}")
