"""What docs/protocol.md asks of a client, in any language: each as a process at a real socket."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import trustme
from languages import NODE, node
from tests.sdk.stand_in import WAIT, Arena, Match, Stream, begin, serving
from vouching import credentials

from arena.v1 import referee_pb2 as pb

PYTHON = """
    from arena_sdk import Bot

    class First(Bot):
        def choose(self, state, clock):
            {first}
            return state.legal_moves()[0]

    First.main()
"""
JAVASCRIPT = """
    import {{ play }} from "{arena}";

    class First {{
      async choose(request) {{
        {first}
        return request.legal_moves[0];
      }}
    }}

    process.exitCode = await play(First);
"""
FAULTS = {"python": "raise RuntimeError('my fault')", "node": "throw new Error('my fault');"}
SLOW = {"python": "__import__('time').sleep(0.5)", "node": "await new Promise((done) => setTimeout(done, 500));"}

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture(params=["python", "node"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def start(language: str, tmp_path: Path, arena: Arena) -> Iterator[Start]:
    """Starts a client whose bot plays the first legal move; none is left when the test ends."""
    started: list[subprocess.Popen[str]] = []
    program = node() if language == "node" else sys.executable

    def run(first: str = "", **environment: str) -> subprocess.Popen[str]:
        path = tmp_path / ("bot.mjs" if language == "node" else "bot.py")
        text = JAVASCRIPT if language == "node" else PYTHON
        path.write_text(textwrap.dedent(text).format(arena=(NODE / "arena.js").as_uri(), first=first))
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
        given = {"ARENA_ADDRESS": arena.address, "ARENA_TOKEN": "secret", **environment}
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        started.append(subprocess.Popen([program, str(path)], env=inherited | given, text=True, **pipes))
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.communicate()


def told(match: Match, *plies: str) -> pb.MoveRequest:
    """A request with all that any observation mode has."""
    moves = [str(move) for move in match.state.legal_moves("a")]
    return match.request(*plies, position=match.state.text, legal_moves=moves)


def ask(stream: Stream, match: Match, *plies: str) -> pb.Move:
    stream.send(move_request=told(match, *plies))
    move: pb.Move = stream.receive("move")
    return move


def until_asked_again(match: Match, move: str) -> list[str]:
    """Plays the bot's move and what follows before it moves again; the plies it has not been told."""
    plies = [match.play(f"a {move}")]
    while match.state.to_move == ("b",):
        plies.append(match.play_first())
    return plies


def test_it_says_hello_with_its_token(arena: Arena, start: Start, language: str) -> None:
    start(ARENA_BOT="tidy", ARENA_VERSION="1.2", ARENA_GAMES_AT_ONCE="3")
    stream = arena.accept()
    hello = stream.receive("hello")
    assert stream.metadata["authorization"] == "Bearer secret"
    assert (hello.protocol_min, hello.protocol_max, hello.games_at_once) == (1, 1, 3)
    assert (hello.bot, hello.version, hello.sdk.split()[0]) == ("tidy", "1.2", language)


def test_it_plays_a_whole_game_and_leaves_with_0(arena: Arena, start: Start) -> None:
    process = start()
    stream, match = arena.accept(), Match()
    begin(stream, match)
    unsent: list[str] = []
    while not match.state.is_over:
        move = ask(stream, match, *unsent)
        assert (move.handle, move.ply) == ("h1", len(match.plies))
        unsent = until_asked_again(match, move.move)
    stream.send(game_over=match.over())
    stream.goodbye()
    assert process.communicate(timeout=WAIT) == ("", "")
    assert process.returncode == 0


def test_a_request_sent_again_has_the_same_answer_and_an_old_one_none(arena: Arena, start: Start) -> None:
    start()
    stream, match = arena.accept(), Match()
    begin(stream, match)
    old = told(match)
    first = ask(stream, match)
    assert ask(stream, match) == first
    plies = until_asked_again(match, first.move)
    second = ask(stream, match, *plies)
    stream.send(move_request=old)
    stream.send(move_request=pb.MoveRequest(handle="unknown", seat="a"))
    assert ask(stream, match) == second


@pytest.mark.parametrize("status", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL, None])
def test_a_lost_stream_is_dialled_again_and_the_ply_goes_on(
    arena: Arena, start: Start, status: grpc.StatusCode | None
) -> None:
    start()
    stream, match = arena.accept(), Match()
    begin(stream, match)
    answer = ask(stream, match)
    stream.responses.put(status)  # None: the stream ends without a Goodbye
    stream = arena.accept()
    begin(stream, match)
    assert ask(stream, match) == answer
    until_asked_again(match, answer.move)
    stream.fail()
    stream = arena.accept()
    begin(stream, match)  # GameStarted tells all plies
    assert ask(stream, match).ply == len(match.plies)


def test_a_move_that_is_thought_of_while_the_stream_is_lost(arena: Arena, start: Start, language: str) -> None:
    start(SLOW[language])
    stream, match = arena.accept(), Match()
    begin(stream, match)
    stream.send(move_request=told(match))
    stream.fail()
    stream = arena.accept()
    begin(stream, match)
    assert ask(stream, match).ply == 0
    stream.send(game_over=match.over())
    stream.goodbye()
    assert stream.closed()


def test_a_failure_of_the_bot_is_told_and_the_process_stays(arena: Arena, start: Start, language: str) -> None:
    start(FAULTS[language])
    stream = arena.accept()
    stream.welcome()
    for handle in ("1", "2"):
        match = Match(handle)
        stream.send(game_started=match.started())
        assert stream.receive("ready").handle == handle
        stream.send(move_request=told(match))
        failure = stream.receive("failure")
        assert (failure.handle, failure.ply) == (handle, 0)
        assert "my fault" in failure.traceback
        stream.send(game_over=match.over())


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        (pb.GOODBYE_CODE_DONE, 0),
        (pb.GOODBYE_CODE_SHUTDOWN, 0),
        (pb.GOODBYE_CODE_REPLACED, 0),
        (pb.GOODBYE_CODE_VERSION, 2),
        (pb.GOODBYE_CODE_RULES, 2),
        (pb.GOODBYE_CODE_PROTOCOL_ERROR, 3),
    ],
)
def test_a_goodbye_ends_it(arena: Arena, start: Start, code: pb.GoodbyeCode.ValueType, exit_code: int) -> None:
    process = start()
    stream = arena.accept()
    stream.receive("hello")
    stream.goodbye(code, text="so it is")
    _, err = process.communicate(timeout=WAIT)
    assert process.returncode == exit_code
    assert exit_code == 0 or "so it is" in err


def test_a_goodbye_may_send_it_elsewhere(arena: Arena, start: Start) -> None:
    process = start()
    with serving("127.0.0.1:0") as other:
        stream = arena.accept()
        stream.welcome()
        stream.goodbye(pb.GOODBYE_CODE_SHUTDOWN, retry_after_ms=10, redirect=other.address)
        stream = other.accept()
        stream.welcome()
        stream.goodbye(pb.GOODBYE_CODE_SHUTDOWN, retry_after_ms=1)
        stream = other.accept()
        stream.welcome()
        stream.goodbye()
        assert process.wait(WAIT) == 0


@pytest.mark.parametrize(
    "status",
    [
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.UNIMPLEMENTED,
    ],
)
def test_a_refusal_ends_it_at_once(arena: Arena, start: Start, status: grpc.StatusCode) -> None:
    process = start()
    arena.accept().fail(status)
    _, err = process.communicate(timeout=WAIT)
    assert process.returncode == 2
    assert "said the test" in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(arena: Arena, start: Start, number: signal.Signals) -> None:
    process = start()
    arena.accept().welcome()
    process.send_signal(number)
    assert process.wait(WAIT) == 128 + number


def test_a_standing_server_is_dialled_over_tls(start: Start, tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    trustme.CA().cert_pem.write_to_path(tmp_path / "stranger.pem")
    with serving("127.0.0.1:0", credentials(authority.issue_cert("127.0.0.1"))) as server:
        elsewhere = {"ARENA_ADDRESS": "", "ARENA_SERVER": server.address}
        start(ARENA_CA=str(tmp_path / "ca.pem"), **elsewhere)
        for _ in range(2):
            stream = server.accept()
            assert stream.metadata["authorization"] == "Bearer secret"
            stream.welcome()
            stream.fail()
        refused = start(ARENA_CA=str(tmp_path / "stranger.pem"), **elsewhere)
        _, err = refused.communicate(timeout=WAIT)
    assert refused.returncode == 2
    assert f"no safe connection to the arena at {server.address}: " in err.splitlines()[-1]  # Node warns before


def test_a_certificate_file_that_is_not_there_is_one_line(start: Start) -> None:
    process = start(ARENA_ADDRESS="", ARENA_SERVER="127.0.0.1:1", ARENA_CA="nowhere.pem")
    _, err = process.communicate(timeout=WAIT)
    assert process.returncode == 2
    assert "nowhere.pem" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("language", "number"), [("python", signal.SIGINT), ("node", signal.SIGINT), ("node", signal.SIGTERM)]
)
def test_elsewhere_a_signal_asks_to_leave_and_the_second_resigns(
    arena: Arena, start: Start, number: signal.Signals
) -> None:
    process = start(ARENA_ADDRESS="", ARENA_SERVER=arena.address)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    process.send_signal(number)
    stream.receive("leave")
    stream.goodbye(pb.GOODBYE_CODE_SHUTDOWN, retry_after_ms=10)
    stream = arena.accept()
    stream.welcome()
    stream.receive("leave")  # it holds for one stream
    stream.send(game_started=match.started())
    stream.receive("ready")
    process.send_signal(number)
    assert stream.receive("resign").handle == match.handle
    stream.send(game_over=match.over(ending=pb.ENDING_RESIGN, blamed=["a"]))
    stream.goodbye()
    _, err = process.communicate(timeout=WAIT)
    assert process.returncode == 0
    assert "seat a at ply 0" in err


def test_one_that_leaves_does_not_wait_for_a_server_that_is_away(start: Start) -> None:
    with serving("127.0.0.1:0") as server:
        process = start(ARENA_ADDRESS="", ARENA_SERVER=server.address)
        server.accept().welcome()
    process.send_signal(signal.SIGINT)
    assert process.wait(WAIT) == 0


def test_it_leaves_after_so_many_rated_games(arena: Arena, start: Start) -> None:
    start(ARENA_ADDRESS="", ARENA_SERVER=arena.address, ARENA_GAMES="1")
    stream, trial, rated = arena.accept(), Match("trial"), Match("rated")
    stream.welcome()
    stream.send(game_started=trial.started(trial=True))
    stream.receive("ready")
    stream.send(game_over=trial.over())
    stream.send(game_started=rated.started())
    stream.receive("ready")
    stream.receive("leave")
