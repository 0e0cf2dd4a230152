"""What goes wrong in a bot's own code, or between bot and arena: told, and no more than one game lost."""

import threading
from typing import Any

import pytest
from tests.sdk.running import First, Run, ask, failure
from tests.sdk.stand_in import WAIT, Arena, Match, begin

from arena_sdk import Bot, Clock, Result


@pytest.mark.parametrize("where", ["load", "__init__", "on_start", "choose"])
@pytest.mark.parametrize("error", [RuntimeError, SystemExit, KeyboardInterrupt])
def test_an_error_of_the_bot_is_told_with_its_traceback(
    arena: Arena, run: Run, where: str, error: type[BaseException]
) -> None:
    def failing(*_args: object) -> None:
        raise error("héllo \ud800")

    bot_class = type("Failing", (First,), {where: classmethod(failing) if where == "load" else failing})
    run(bot_class)
    stream = arena.accept()
    stream.welcome()
    for handle in ("1", "2"):  # the process stays for the next game
        match = Match(handle)
        stream.send(game_started=match.started())
        if where == "choose":
            stream.receive("ready")
            told = failure(stream, match)
        else:
            told = stream.receive("failure")
        assert (told.handle, told.ply) == (handle, 0)
        assert "in failing\n    raise error(" in told.traceback
        assert "arena_sdk/" not in told.traceback
        assert told.traceback.strip().rpartition("\n")[2].startswith(f"{error.__name__}: héllo ")
        assert failure(stream, match) == told
        stream.send(game_over=match.over())
    stream.goodbye()


def test_a_long_traceback_keeps_its_end(arena: Arena, run: Run) -> None:
    class Wordy(First):
        def choose(self, state: Any, clock: Clock) -> Any:  # noqa: ARG002
            raise RuntimeError("ü" * 100_000 + "the end")

    run(Wordy)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    told = failure(stream, match).traceback
    assert len(told.encode()) <= 16 * 1024
    assert told.endswith("üthe end\n")
    stream.goodbye()


def test_a_bot_without_choose(arena: Arena, run: Run) -> None:
    run(type("Empty", (Bot,), {}))
    stream, match = arena.accept(), Match()
    begin(stream, match)
    assert "NotImplementedError: Empty has no choose(self, state, clock)" in failure(stream, match).traceback
    stream.goodbye()


def test_an_error_in_on_end_is_only_printed(arena: Arena, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    class Ending(First):
        def on_end(self, result: Result) -> None:
            raise SystemExit(result.game_id)

    run(Ending)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    stream.send(game_over=match.over())
    stream.send(game_started=Match("h2").started())
    stream.receive("ready")
    stream.goodbye()
    assert capsys.readouterr().err.endswith("SystemExit: nightly/17\n")


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("choice", "sent"),
    [("Kc9", "Kc9"), (None, ""), (17, "17"), ("\ud800", "?"), ("x" * 10_000, "x" * 500), ("a\nb", "a\nb")],
)
def test_nonsense_is_sent_as_it_is(arena: Arena, run: Run, choice: object, sent: str) -> None:
    run(type("Odd", (First,), {"choose": lambda *_: choice}))
    stream, match = arena.accept(), Match()
    begin(stream, match)
    move = ask(stream, match)
    assert move.move == sent
    assert list(move.log) == (
        [] if choice is not None else ["choose returned None: return a move of state.legal_moves()"]
    )
    stream.goodbye()


def test_what_has_no_text_is_the_bots_error(arena: Arena, run: Run) -> None:
    run(type("Odd", (First,), {"choose": lambda *_: Unprintable()}))
    stream, match = arena.accept(), Match()
    begin(stream, match)
    assert "RuntimeError: no text" in failure(stream, match).traceback
    stream.goodbye()


@pytest.mark.parametrize(
    ("spoiled", "complaint"),
    [
        ({"checksum": 1}, "00000001 there"),
        ({"plies": ["b rock"]}, "a ply here is a move from each of a"),
        ({"plies": ["a rock"]}, "'rock'"),
    ],
)
def test_a_position_that_went_astray_is_told(arena: Arena, run: Run, spoiled: dict[str, Any], complaint: str) -> None:
    class Astray(First):
        pass

    run(Astray)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    request = match.request(checksum=spoiled.get("checksum", 0))
    request.plies.extend(spoiled.get("plies", []))
    stream.send(move_request=request)
    told = stream.receive("failure")
    assert told.traceback.startswith("the bot's position is not the arena's at ply 0: ")
    assert complaint in told.traceback
    assert "Traceback" not in told.traceback
    stream.goodbye()
    assert Astray.made[0].positions == []


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [({"rules": "99"}, "by rules 99, this bot's engine knows"), ({"plies": ["a x"]}, "MoveSyntaxError")],
)
def test_a_game_that_cannot_start_is_told(arena: Arena, run: Run, fields: dict[str, Any], complaint: str) -> None:
    class Unstarted(First):
        pass

    run(Unstarted)
    stream, match = arena.accept(), Match()
    stream.welcome()
    match.plies = fields.pop("plies", [])
    stream.send(game_started=match.started(**fields))
    assert complaint in stream.receive("failure").traceback
    stream.goodbye()
    assert Unstarted.made == []


def test_a_bot_that_thinks_for_ever_does_not_keep_the_session(arena: Arena, run: Run) -> None:
    release = threading.Event()

    class Endless(First):
        def choose(self, state: Any, clock: Clock) -> Any:
            release.wait(WAIT)
            return super().choose(state, clock)

    running = run(Endless, games_at_once=2)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    stream.send(move_request=match.request())
    stream.goodbye()
    assert running.finish() == 0
    release.set()
