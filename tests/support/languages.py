"""Bots in other languages than Python, and what they need to run."""

from pathlib import Path

from requirements import missing, require

FOLDER = Path(__file__).parents[2] / "example_bots" / "languages"
NODE = FOLDER / "node"


def node() -> str:
    """Node.js, with the packages of the bot in JavaScript installed."""
    program = require("node")
    if not (NODE / "node_modules").is_dir():
        missing("node_modules", f"is not there: run `npm ci` in {NODE}")
    return program
