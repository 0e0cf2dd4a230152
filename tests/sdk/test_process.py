"""Real bot processes at a real socket: environment, output, signals, exit codes."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest
from tests.sdk.stand_in import EPILOGUE, PROLOGUE, WAIT, Arena, Match, Process, Stream, begin, serving

from arena.v1 import referee_pb2 as pb

StartBot = Callable[..., Process]


def test_plays_a_whole_game_and_leaves_with_0(arena: Arena, start_bot: StartBot) -> None:
    bot = start_bot("", arena)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    unsent: list[str] = []
    while not match.state.is_over:
        if match.state.to_move == ("a",):
            stream.send(move_request=match.request(*unsent))
            move = stream.receive("move")
            assert (move.handle, move.ply) == ("h1", len(match.plies))
            unsent = [match.play(f"a {move.move}")]
        else:
            unsent.append(match.play_first())
    stream.send(game_over=match.over())
    stream.goodbye()
    assert bot.finish() == (0, "", "")


def test_says_hello(arena: Arena, start_bot: StartBot) -> None:
    start_bot("", arena, ARENA_BOT="tidy", ARENA_VERSION="1.2", ARENA_GAMES_AT_ONCE="3", ARENA_OPTIONS="")
    stream = arena.accept()
    hello = stream.receive("hello")
    assert stream.metadata["authorization"] == "Bearer secret"
    assert (hello.protocol_min, hello.protocol_max) == (1, 1)
    assert (hello.bot, hello.version, hello.games_at_once) == ("tidy", "1.2", 3)
    assert hello.sdk.startswith("python 0.")
    assert hello.rules["patchwork"] == Match().game.rules
    assert hello.observation_mode == pb.OBSERVATION_MODE_INCREMENTAL


def test_the_class_names_a_bot_that_the_environment_does_not(arena: Arena, start_bot: StartBot) -> None:
    start_bot("class Named(First):\n    name, version = 'named', '3'", arena)
    hello = arena.accept().receive("hello")
    assert (hello.bot, hello.version) == ("named", "3")


def test_plays_over_tcp(start_bot: StartBot) -> None:
    with serving("127.0.0.1:0") as arena:
        bot = start_bot("", arena)
        stream, match = arena.accept(), Match()
        begin(stream, match)
        stream.send(move_request=match.request())
        match.play(f"a {stream.receive('move').move}")
        stream.goodbye()
        assert bot.finish()[0] == 0


def test_without_an_arena_it_says_what_to_do(start_bot: StartBot) -> None:
    bot = start_bot("", None)
    code, out, err = bot.finish()
    assert (code, out) == (2, "")
    assert f"arena run-tournament {bot.file} greedy" in err
    assert len(err.splitlines()) <= 5


@pytest.mark.parametrize(
    ("environment", "complaint"),
    [
        ({"ARENA_ADDRESS": "here"}, "ARENA_ADDRESS is no address: 'here'"),
        ({"ARENA_TOKEN": ""}, "ARENA_TOKEN is missing"),
        ({"ARENA_TOKEN": "a\nb"}, "ARENA_TOKEN is missing or no token"),
        ({"ARENA_GAMES_AT_ONCE": "0"}, "ARENA_GAMES_AT_ONCE is no number of games: '0'"),
        ({"ARENA_GAMES_AT_ONCE": "two"}, "'two' - write a whole number from 1"),
    ],
)
def test_a_wrong_environment_is_one_line(start_bot: StartBot, environment: dict[str, str], complaint: str) -> None:
    bot = start_bot("", None, **{"ARENA_ADDRESS": "unix:/none", "ARENA_TOKEN": "t"} | environment)
    code, _, err = bot.finish()
    assert code == 2
    assert complaint in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (grpc.StatusCode.UNAUTHENTICATED, "check ARENA_TOKEN"),
        (grpc.StatusCode.PERMISSION_DENIED, "may play"),
        (grpc.StatusCode.FAILED_PRECONDITION, "mend what it says"),
        (grpc.StatusCode.UNIMPLEMENTED, "check ARENA_ADDRESS"),
    ],
)
def test_a_refused_bot_exits_at_once(arena: Arena, start_bot: StartBot, status: grpc.StatusCode, advice: str) -> None:
    bot = start_bot("", arena)
    arena.accept().fail(status)
    code, _, err = bot.finish()
    assert code == 2
    assert "said the test" in err
    assert advice in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("code", "exit_code", "lines"),
    [
        (pb.GOODBYE_CODE_DONE, 0, 0),
        (pb.GOODBYE_CODE_SHUTDOWN, 0, 0),
        (pb.GOODBYE_CODE_REPLACED, 0, 1),
        (pb.GOODBYE_CODE_RETIRED, 0, 1),
        (pb.GOODBYE_CODE_FAILED, 1, 1),
        (pb.GOODBYE_CODE_VERSION, 2, 1),
        (pb.GOODBYE_CODE_RULES, 2, 1),
        (pb.GOODBYE_CODE_PROTOCOL_ERROR, 3, 1),
    ],
)
def test_goodbye(arena: Arena, start_bot: StartBot, code: pb.GoodbyeCode.ValueType, exit_code: int, lines: int) -> None:
    bot = start_bot("", arena)
    stream = arena.accept()
    stream.welcome()
    stream.goodbye(code, text="the reason")
    left, _, err = bot.finish()
    assert (left, err.count("\n"), err.count("the reason")) == (exit_code, lines, lines)


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("thinking", [True, False])
def test_signals_end_it_quietly(arena: Arena, start_bot: StartBot, signum: signal.Signals, *, thinking: bool) -> None:
    bot = start_bot(
        """
        class Stubborn(First):
            def choose(self, state, clock):
                self.log("thinking")
                print("thinking", flush=True)
                while True:
                    try:
                        time.sleep(60)
                    except BaseException:
                        pass
        """,
        arena,
    )
    stream, match = arena.accept(), Match()
    begin(stream, match)
    if thinking:
        stream.send(move_request=match.request())
        assert bot.popen.stdout
        assert bot.popen.stdout.readline() == "thinking\n"
    bot.popen.send_signal(signum)
    assert bot.finish() == (128 + signum, "", "")
    assert stream.closed()


def test_print_is_captured_and_harmless(arena: Arena, start_bot: StartBot) -> None:
    bot = start_bot(
        """
        class Chatty(First):
            def choose(self, state, clock):
                print("to out \\ud800")
                print("to err", file=sys.stderr)
                return super().choose(state, clock)
        """,
        arena,
    )
    stream, match = arena.accept(), Match()
    begin(stream, match)
    stream.send(move_request=match.request())
    stream.receive("move")
    assert bot.popen.stdout
    assert bot.popen.stdout.readline() == "to out \\ud800\n"
    stream.goodbye()
    assert bot.finish() == (0, "", "to err\n")


CHATTY = """
class Chatty(First):
    def choose(self, state, clock):
        for _ in range(100):
            print("x" * 1000)
            print("x" * 1000, file=sys.stderr)
            sys.stderr.flush()
        return super().choose(state, clock)
"""


def play_one_move(stream: Stream) -> None:
    match = Match()
    begin(stream, match)
    stream.send(move_request=match.request())
    stream.receive("move")
    stream.goodbye()


def test_print_without_a_reader(arena: Arena, start_bot: StartBot) -> None:
    bot = start_bot(CHATTY, arena)
    assert bot.popen.stdout
    assert bot.popen.stderr
    bot.popen.stdout.close()
    bot.popen.stderr.close()
    play_one_move(arena.accept())
    assert bot.popen.wait(WAIT) == 0


def test_print_with_closed_descriptors(arena: Arena, tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text(PROLOGUE + CHATTY + EPILOGUE)
    environment = os.environ | {"ARENA_ADDRESS": arena.address, "ARENA_TOKEN": "t"}
    bot = subprocess.Popen(["/bin/sh", "-c", f"exec {sys.executable} {file} >&- 2>&-"], env=environment)
    try:
        play_one_move(arena.accept())
        assert bot.wait(WAIT) == 0
    finally:
        bot.kill()
        bot.wait()


def test_gives_up_a_lost_arena_with_one_line(arena: Arena, start_bot: StartBot) -> None:
    bot = start_bot("import arena_sdk.session\nfrom arena_sdk.session import Session\n" + IMPATIENT, arena)
    stream = arena.accept()
    stream.welcome()
    stream.fail()
    for _ in range(3):
        arena.accept().fail()
    code, _, err = _finish_failing(arena, bot)
    assert code == 3
    assert f"no arena at {arena.address} for 1 s, giving up: said the test - check ARENA_ADDRESS" in err
    assert err.count("\n") == 1


IMPATIENT = """
class Impatient(First):
    @classmethod
    def main(cls):
        sys.exit(Session(cls, os.environ["ARENA_ADDRESS"], "t", patience=1.0).run())
"""


def _finish_failing(arena: Arena, bot: Process) -> tuple[int, str, str]:
    while bot.popen.poll() is None:
        try:
            arena.streams.get(timeout=0.1).fail()
        except Exception:  # noqa: BLE001 - queue.Empty
            continue
    return bot.finish()


def test_an_absent_arena(socket: str, start_bot: StartBot) -> None:
    bot = start_bot("from arena_sdk.session import Session\n" + IMPATIENT, Arena(socket))
    code, _, err = bot.finish()
    assert code == 3
    assert f"no arena at {socket} for 1 s" in err
    assert err.count("\n") == 1


def test_a_bot_may_start_processes(arena: Arena, start_bot: StartBot) -> None:
    bot = start_bot(
        """
        import multiprocessing, subprocess

        class Forking(First):
            def choose(self, state, clock):
                with multiprocessing.get_context("fork").Pool(2) as pool:
                    self.log(sum(pool.map(abs, [-1, -2])))
                self.log(subprocess.check_output(["echo", "hi"], text=True))
                return super().choose(state, clock)
        """,
        arena,
    )
    stream, match = arena.accept(), Match()
    begin(stream, match)
    stream.send(move_request=match.request())
    assert list(stream.receive("move").log) == ["3", "hi"]
    stream.goodbye()
    assert bot.finish() == (0, "", "")


def test_the_bot_of_the_documentation_plays(arena: Arena, start_bot: StartBot) -> None:
    page = (Path(__file__).parents[2] / "docs" / "sdk.md").read_text()
    body = page.partition("```python\n")[2].partition("```")[0]
    start_bot(body, arena)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    stream.send(move_request=match.request())
    match.play(f"a {stream.receive('move').move}")
    stream.goodbye()
