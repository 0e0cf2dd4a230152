"""Bot processes at an arena elsewhere: certificates, leaving, what their authors are told."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme
from tests.sdk.running import failure
from tests.sdk.stand_in import Arena, Match, Process, begin, serving
from vouching import credentials

from arena.v1 import referee_pb2 as pb

StartBot = Callable[..., Process]
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
IMPATIENT = """
os.environ["GRPC_VERBOSITY"] = "NONE"  # as `main` does, which comes later
import arena_sdk.session
arena_sdk.session.TOLD_AFTER_S = 0.3
"""
FAILING = """
class Failing(Bot):
    def choose(self, state, clock):
        raise ValueError("no such patch")
"""


def dial(start_bot: StartBot, address: str, **environment: str) -> Process:
    return start_bot("", None, ARENA_SERVER=address, ARENA_TOKEN="t", **environment)


def test_a_certificate_that_somebody_vouches_for(authority: trustme.CA, tmp_path: Path, start_bot: StartBot) -> None:
    with serving("127.0.0.1:0", credentials(authority.issue_cert("127.0.0.1"))) as arena:
        bot = dial(start_bot, arena.address, ARENA_CA=str(tmp_path / "ca.pem"))
        stream = arena.accept()
        stream.welcome()
        stream.goodbye()
        assert bot.finish() == (0, "", "")


@pytest.mark.parametrize(
    ("name", "trusted", "complaint"),
    [
        (
            "127.0.0.1",
            "stranger.pem",
            "no one trusted vouches for its certificate - name the file",
        ),
        ("arena.example.org", "ca.pem", "its certificate is for another name"),
        ("127.0.0.1", "none.pem", "check ARENA_CA"),
        ("", "ca.pem", "it speaks no TLS"),
        ("expired", "ca.pem", "its certificate has expired"),
    ],
)
def test_one_that_cannot_be_trusted_is_one_line(
    authority: trustme.CA, tmp_path: Path, start_bot: StartBot, *, name: str, trusted: str, complaint: str
) -> None:
    if name == "expired":
        issued = authority.issue_cert("127.0.0.1", not_before=LONG_AGO, not_after=LONG_AGO)
    else:
        issued = authority.issue_cert(name or "127.0.0.1")
    with serving("127.0.0.1:0", credentials(issued) if name else None) as arena:
        code, _, err = dial(start_bot, arena.address, ARENA_CA=str(tmp_path / trusted)).finish()
    assert code == 2
    assert f"no safe connection to the arena at {arena.address}: " in err
    assert complaint in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_second_interrupt_resigns_and_says_which_games(
    arena: Arena, start_bot: StartBot, number: signal.Signals
) -> None:
    """Also where streams are lost on the way."""
    bot = dial(start_bot, arena.address)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    bot.popen.send_signal(number)
    stream.receive("leave")
    stream.fail()
    stream = arena.accept()
    stream.welcome()
    stream.receive("leave")
    stream.send(game_started=match.started())
    stream.receive("ready")
    bot.popen.send_signal(number)
    assert stream.receive("resign").handle == match.handle
    stream.fail()
    stream = arena.accept()
    stream.welcome()
    stream.receive("leave")
    stream.send(game_started=match.started())
    stream.receive("ready")
    assert stream.receive("resign").handle == match.handle
    stream.send(game_over=match.over(ending=pb.ENDING_RESIGN, blamed=["a"]))
    stream.goodbye()
    code, _, err = bot.finish()
    assert (code, err.splitlines()) == (
        0,
        [
            "arena_sdk: leaving after 1 running game; once more resigns",
            "arena_sdk: resigning 1 running game: seat a at ply 0",
            "arena_sdk: game nightly/17 is over: resign",
        ],
    )


def test_leaving_does_not_wait_for_an_arena_that_is_away(socket: str, start_bot: StartBot) -> None:
    with serving(socket) as arena:
        bot = dial(start_bot, socket)
        arena.accept().welcome()
    bot.popen.send_signal(signal.SIGINT)
    assert bot.finish() == (0, "", "arena_sdk: leaving\n")


def test_nothing_is_resigned_where_the_arena_is_away(socket: str, start_bot: StartBot) -> None:
    with serving(socket) as arena:
        bot = start_bot(IMPATIENT, None, ARENA_SERVER=socket, ARENA_TOKEN="t")
        begin(arena.accept(), Match())
    assert bot.popen.stderr
    assert bot.popen.stderr.readline().startswith("arena_sdk: no arena at ")
    bot.popen.send_signal(signal.SIGINT)
    leaving = "leaving after 1 running game; once more resigns"
    assert bot.popen.stderr.readline() == f"arena_sdk: the arena is away: {leaving}\n"
    bot.popen.send_signal(signal.SIGINT)
    code, _, err = bot.finish()
    resigning = "resigning 1 running game, if it is back in seconds; else lost by disconnect: seat a at ply 0"
    assert (code, err) == (0, f"arena_sdk: the arena is away: {resigning}\n")


def test_an_author_is_told_once_whom_the_arena_takes_the_bot_for(
    arena: Arena, start_bot: StartBot, tmp_path: Path
) -> None:
    """So is who let it join, with the games that count; it comes back as the same version, whatever is newest then."""
    told = tmp_path / "told"
    told.touch()
    bot = dial(start_bot, arena.address, ARENA_TELL=str(told))
    for season in ("2027", "2027", "2028"):
        stream, match = arena.accept(), Match()
        hello = stream.receive("hello")
        assert hello.version == ("1" if told.read_text() else "")
        stream.send(welcome=pb.Welcome(protocol=1, bot="ada", version="1", tournament=season))
        stream.send(game_started=match.started())
        stream.receive("ready")
        stream.send(game_over=match.over(ranks=[] if season == "2028" else [1, 2], game_id=f"{season}/17"))
        stream.send(game_started=match.started())  # by now it has heard that
        stream.receive("ready")
        stream.fail()
    arena.accept().goodbye()
    assert bot.finish() == (
        0,
        "",
        "arena_sdk: connected as ada 1, season 2027\narena_sdk: connected as ada 1, season 2028\n",
    )
    first = {"bot": "ada", "version": "1", "tournament": "2027"}
    games = [{"game": "2027/17"}] * 2
    assert [json.loads(line) for line in told.read_text().splitlines()] == [
        first,
        *games,
        {**first, "tournament": "2028"},
    ]


def test_an_author_is_told_why_games_are_lost_and_not_flooded(arena: Arena, start_bot: StartBot) -> None:
    bot = start_bot(FAILING, None, ARENA_SERVER=arena.address, ARENA_TOKEN="t")
    stream = arena.accept()
    stream.welcome()
    for number in range(1, 31):
        match = Match(str(number))
        stream.send(game_started=match.started())
        stream.receive("ready")
        failure(stream, match)
        crash = {"ending": pb.ENDING_CRASH, "blamed": ["a"], "reason": "ValueError: no such patch"}
        stream.send(game_over=match.over(**crash, game_id=f"2027/{number}"))
    stream.send(game_started=Match("last").started())
    stream.receive("ready")
    stream.send(game_over=Match("last").over(ending=pb.ENDING_TIMEOUT, blamed=["b"]))
    stream.goodbye()
    code, _, err = bot.finish()
    trace, losses = err[: err.index("arena_sdk: game")].splitlines(), err[err.index("arena_sdk: game") :].splitlines()
    assert code == 0
    assert trace[0] == "arena_sdk: the bot failed; such an error is told once:"
    assert trace[-1] == "ValueError: no such patch"
    assert losses[0] == "arena_sdk: game 2027/1 is over: seat a lost by crash at ply 0: ValueError: no such patch"
    assert losses[9].endswith(
        "game 2027/10 is over: seat a lost by crash at ply 0: ValueError: no such patch (10 so far)"
    )
    assert len(losses) == 10


def test_a_launched_bot_leaves_that_to_the_arena(arena: Arena, start_bot: StartBot) -> None:
    bot = start_bot(FAILING, arena)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    failure(stream, match)
    stream.send(game_over=match.over(ending=pb.ENDING_CRASH, blamed=["a"], reason="ValueError: no such patch"))
    stream.goodbye()
    assert bot.finish() == (0, "", "")


def test_a_plain_wire_to_a_server_with_a_certificate_is_pointed_at(authority: trustme.CA, start_bot: StartBot) -> None:
    with serving("127.0.0.1:0", credentials(authority.issue_cert("127.0.0.1"))) as arena:
        bot = start_bot(IMPATIENT, None, ARENA_SERVER=arena.address, ARENA_TOKEN="t")
        assert bot.popen.stderr
        line = bot.popen.stderr.readline()
    assert "it was dialled without TLS: if it has a certificate, name the file of who vouches for it" in line


def test_an_author_is_told_what_the_arena_has_to_say(arena: Arena, start_bot: StartBot) -> None:
    bot = dial(start_bot, arena.address)
    stream = arena.accept()
    stream.welcome()
    stream.send(notice=pb.Notice(text="game 1 of 3"))
    stream.goodbye(pb.GOODBYE_CODE_FAILED, text="it failed")
    code, _, err = bot.finish()
    told = ["arena_sdk: the arena: game 1 of 3", "arena_sdk: the arena closed the stream: it failed"]
    assert (code, err.splitlines()) == (1, told)


def test_no_call_is_left_to_the_end_of_the_process(arena: Arena, start_bot: StartBot) -> None:
    """The finalizer of a call takes a lock, with which a thread of gRPC may have died by then."""
    bot = start_bot(
        """
        import atexit, gc
        calls = lambda: sum("Rendezvous" in type(one).__name__ for one in gc.get_objects())
        atexit.register(lambda: print("calls:", calls()))
        """,
        None,
        ARENA_SERVER=arena.address,
        ARENA_TOKEN="t",
    )
    stream = arena.accept()
    stream.welcome()
    stream.goodbye()
    assert bot.finish()[:2] == (0, "calls: 0\n")


def test_an_arena_that_stays_away_is_told_once(arena: Arena, start_bot: StartBot) -> None:
    bot = start_bot(IMPATIENT, None, ARENA_SERVER=arena.address, ARENA_TOKEN="t")
    for _ in range(6):
        arena.accept().fail()
    stream = arena.accept()
    stream.welcome()
    stream.goodbye()
    code, _, err = bot.finish()
    lines = err.splitlines()
    assert code == 0
    assert lines[0].startswith(f"arena_sdk: no arena at {arena.address}: said the test - looking for it for 3600 s")
    assert "check ARENA_SERVER" in lines[0]
    assert lines[1:] == [f"arena_sdk: the arena at {arena.address} is back"]
