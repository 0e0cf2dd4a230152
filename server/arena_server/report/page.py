"""Pages: one self-contained file each, that neither loads nor runs anything but its own."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from arena_engine.game import find
from arena_engine.record import GameRecord
from arena_server.report import replays
from arena_server.text import clean

GENERATOR = "patchwork-arena"
"""How a page of ours is known."""


def render(template: str, *, data: Mapping[str, Any], **context: Any) -> str:
    """A page from a template of ours; the data is for its script."""
    style, script = _asset("page.css"), _asset("page.js")
    return (
        _environment()
        .get_template(template)
        .render(
            generator=f"{GENERATOR} {version(GENERATOR)}",
            policy=_policy(style, script),
            style=Markup(style),  # noqa: S704 - ours
            script=Markup(script),  # noqa: S704 - ours
            data=_json(data),
            **context,
        )
    )


def instant(text: str | None) -> str:
    """A UTC time of ISO 8601 for people: ``2026-11-30 12:00:00 UTC``; empty for none."""
    return f"{text[: len('2026-11-30T12:00:00')].replace('T', ' ')} UTC" if text else ""


class Shelf:
    """Games for the script of one page: a list of them, and the replays of those that were played."""

    def __init__(self, game: str, labels: Sequence[str] = ()) -> None:
        self._game = game
        self._bots = {label: index for index, label in enumerate(labels)}
        self._list: list[dict[str, Any]] = []
        self._replays: dict[str, str] = {}

    def add(self, record: GameRecord, *, page: str = "") -> None:
        """Puts a game into the list, and its replay: here, or, if a page is named, a link to it there."""
        bots = [self._bots.setdefault(seat.label, len(self._bots)) for seat in record.seats]
        self._list.append({**_summary(record), "seats": bots, **({"page": page} if page else {})})
        if not page:
            self._replays[str(record.number)] = replays.pack(record)

    def __len__(self) -> int:
        return len(self._list)

    def data(self) -> dict[str, Any]:
        """What the script reads."""
        return {
            "looks": replays.looks(find(self._game)),
            "bots": [clean(label) for label in self._bots],
            "games": self._list,
            "replays": self._replays,
        }


def _summary(record: GameRecord) -> dict[str, Any]:
    """Without what is empty, but for the score."""
    parts = {
        "number": record.number,
        "id": clean(record.id),
        "score": record.score,
        "winner": record.winner,
        "ending": record.termination.replace("_", " "),
        "blamed": "".join(record.blamed),
        "reason": clean(record.failed.reason) if record.failed else "",
        "reply": clean(record.failed.reply or "") if record.failed else "",
    }
    return {key: part for key, part in parts.items() if part not in ("", None)}


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(data: Mapping[str, Any]) -> Markup:
    """JSON in which nothing ends a script element."""
    text = json.dumps(data, separators=(",", ":"))
    for symbol in "<>&":
        text = text.replace(symbol, f"\\u{ord(symbol):04x}")
    return Markup(text)  # noqa: S704 - escaped above


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath("static", name).read_text("utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("arena_server.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"signed": _signed, "percent": _percent, "plain": _plain}
    return environment


def _harmless(value: object) -> object:
    """Whatever a template prints: escaped by Jinja, and here freed from what turns or hides text."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else clean(value)


def _plain(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")  # noqa: RUF001 - signs for people


def _signed(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{round(value, digits) + 0.0:+.{digits}f}".replace("-", "−")  # noqa: RUF001 - likewise


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"  # noqa: RUF001 - likewise
