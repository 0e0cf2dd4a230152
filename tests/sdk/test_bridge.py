"""`arena bridge`: what a program is told, what it may say, and that its faults are its own and never hang."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from command import ARENA, environment
from tests.sdk.stand_in import WAIT, Arena, Match, Stream, begin

from arena.v1 import referee_pb2 as pb

SHELL = """
    while read -r word rest; do
      case $word in
        start) {start} ;;
        moves) first=${{rest%% *}} ;;
        go) {go} ;;
        end) {end} ;;
        quit) exit ;;
      esac
    done
"""
READY, MOVE = "echo ready", 'echo "move $first"'

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(arena: Arena) -> Iterator[Start]:
    """Starts a bridge to a program; neither is left when the test ends."""
    started: list[subprocess.Popen[str]] = []

    def run(*command: str, options: tuple[str, ...] = (), **more: str) -> subprocess.Popen[str]:
        given = environment(ARENA_ADDRESS=arena.address, ARENA_TOKEN="secret", **more)
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        argv = [*ARENA, "bridge", *options, "--", *command]
        started.append(subprocess.Popen(argv, env=given, text=True, start_new_session=True, **pipes))
        return started[-1]

    yield run
    for process in started:
        process.terminate()
        process.communicate(timeout=WAIT)


def shell(start: str = READY, go: str = MOVE, end: str = ":") -> tuple[str, ...]:
    return "sh", "-c", textwrap.dedent(SHELL).format(start=start, go=go, end=end)


def ask(stream: Stream, match: Match, kind: str = "move", **fields: Any) -> Any:
    stream.send(move_request=match.request(**fields))
    return stream.receive(kind)


def test_a_program_is_told_all_of_a_game(arena: Arena, start: Start, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    process = start("sh", "-c", f"tee {heard} | {{ {shell(go='echo log one; echo log two; ' + MOVE)[2]} }}")
    stream, match = arena.accept(), Match()
    stream.welcome(deep=pb.Option(flag=True), text=pb.Option(text="a b\nstart"))
    stream.send(game_started=match.started(time_control=pb.TimeControl(bank_us=60_000_000)))
    stream.receive("ready")
    move = ask(stream, match, clock=pb.Clock(left_us=60_000_000, bank_us=60_000_000, opponents_us={"b": 5}))
    moves = [str(move) for move in match.state.legal_moves()]
    assert (move.handle, move.ply, move.move, list(move.log)) == ("h1", 0, moves[0], ["one", "two"])
    stream.send(game_over=match.over(reason="all\nis well"))
    stream.goodbye()
    assert process.wait(WAIT) == 0
    times = [line for line in heard.read_text().splitlines() if line.startswith(("left_us ", "budget_us "))]
    assert [line.split()[0] for line in times] == ["left_us", "budget_us"]
    assert 0 < int(times[1].split()[1]) < int(times[0].split()[1]) <= 60_000_000
    assert [line for line in heard.read_text().splitlines() if line not in times] == [
        "arena 1",
        "option deep true",
        "option text a b start",
        "game patchwork",
        "seat a",
        "player a bot a",
        "player b bot b",
        f"deal circle {match.deal['circle']}",
        "deal edition original",
        "seed 7",
        "start",
        f"position {match.state.text}",
        f"moves {' '.join(moves)}",
        "opponent_us b 5",
        "go",
        "id nightly/17",
        "ranks 1 2",
        "scores 12 -3",
        "reason all is well",
        "end normal won",
        "quit",
    ]


def test_a_game_goes_on_over_a_new_stream_with_the_same_program(arena: Arena, start: Start, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    start("sh", "-c", f"tee {heard} | {{ {shell()[2]} }}")
    stream, match = arena.accept(), Match()
    begin(stream, match)
    answer = ask(stream, match)
    stream.fail()
    stream = arena.accept()
    begin(stream, match)
    assert ask(stream, match) == answer
    words = heard.read_text().split()
    assert (words.count("start"), words.count("go")) == (1, 1)


def test_a_program_may_resign(arena: Arena, start: Start) -> None:
    start(*shell(go="echo resign"))
    stream, match = arena.accept(), Match()
    begin(stream, match)
    assert ask(stream, match, "resign") == pb.Resign(handle="h1")


def test_a_move_is_for_the_arena_to_judge(arena: Arena, start: Start) -> None:
    start(*shell(go="echo 'move up and  down'"))
    stream, match = arena.accept(), Match()
    begin(stream, match)
    assert ask(stream, match).move == "up and  down"


FAULTS = {
    "echo oh no >&2; exit 3": "ended with exit status 3",
    "kill -SEGV $$": "was killed by SIGSEGV",
    "exec >&-; sleep 100": "closed its standard output",
    "echo K6c4": "said 'K6c4' where 'move MOVE' was awaited",
    "echo": "said '' where 'move MOVE' was awaited",
    "head -c 100000 /dev/zero": "without the end of a line within 65536 bytes",
    "printf 'move >'; exit": "without the end of a line",
    "sleep 100": "did not answer in time",
    "yes log": "did not answer in time",
}
"""What a program does when it is asked for a move, and what is told of that."""


@pytest.mark.parametrize(("fault", "told"), FAULTS.items())
def test_a_fault_is_told_and_the_next_game_has_a_new_program(arena: Arena, start: Start, fault: str, told: str) -> None:
    process = start(*shell(go=fault))
    stream = arena.accept()
    stream.welcome()
    for handle in ("1", "2"):
        match = Match(handle)
        stream.send(game_started=match.started())
        assert stream.receive("ready").handle == handle
        failure = ask(stream, match, "failure", clock=pb.Clock(left_us=100_000))
        assert (failure.handle, failure.ply) == (handle, 0)
        assert told in failure.traceback.strip().splitlines()[-1]
        assert ("the end of its standard error:\noh no\n" in failure.traceback) == ("oh no" in fault)
        stream.send(game_over=match.over(ranks=[2, 1], ending=pb.ENDING_CRASH))
    assert psutil.Process(process.pid).children(recursive=True) == []


def test_bytes_that_are_no_text_are_part_of_a_move(arena: Arena, start: Start) -> None:
    start(*shell(go="printf 'move \\377\\r\\n'"))
    stream, match = arena.accept(), Match()
    begin(stream, match)
    assert ask(stream, match).move == r"\xff"


@pytest.mark.parametrize(
    ("answer", "options", "told"),
    [
        ("echo hello", (), "said 'hello' where 'ready' was awaited"),
        ("sleep 100", ("--start-limit", "100ms"), "did not answer in time"),
        ("exit 1", (), "ended with exit status 1"),
    ],
)
def test_a_program_that_does_not_get_ready(
    arena: Arena, start: Start, answer: str, options: tuple[str, ...], told: str
) -> None:
    start(*shell(start=answer), options=options)
    stream, match = arena.accept(), Match()
    stream.welcome()
    stream.send(game_started=match.started())
    assert told in stream.receive("failure").traceback


def test_what_it_says_unasked_is_a_fault(arena: Arena, start: Start) -> None:
    start(*shell(go=f"{MOVE}; {MOVE}"))
    stream, match = arena.accept(), Match()
    begin(stream, match)
    match.play(f"a {ask(stream, match).move}")
    plies = list(match.plies)
    while match.state.to_move == ("b",):
        plies.append(match.play_first())
    time.sleep(0.2)  # for its second line; without it the fault would be told at the next ply
    stream.send(move_request=match.request(*plies))
    assert "unasked" in stream.receive("failure").traceback


def test_a_program_that_is_not_there(arena: Arena, start: Start) -> None:
    start("./nowhere")
    stream, match = arena.accept(), Match()
    stream.welcome()
    stream.send(game_started=match.started())
    told = stream.receive("failure").traceback.strip()
    assert told.endswith("cannot start the program ./nowhere: No such file or directory")


def test_a_program_may_leave_after_each_game(arena: Arena, start: Start) -> None:
    start(*shell(end="exit"))
    stream = arena.accept()
    stream.welcome()
    for handle in ("1", "2", "3"):
        match = Match(handle)
        stream.send(game_started=match.started())
        stream.receive("ready")
        assert ask(stream, match).ply == 0
        stream.send(game_over=match.over())
        time.sleep(0.1)  # a program that is on its way out when the next game begins has failed to start


def test_a_signal_kills_the_program_with_its_children(arena: Arena, start: Start) -> None:
    process = start(*shell(go="sleep 100"))
    stream, match = arena.accept(), Match()
    begin(stream, match)
    stream.send(move_request=match.request())
    tree = psutil.Process(process.pid).children(recursive=True)
    while len(tree) < 2:
        tree = psutil.Process(process.pid).children(recursive=True)
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    assert process.wait(WAIT) == 143
    assert psutil.wait_procs(tree, WAIT)[1] == []


def test_it_neither_knows_the_token_nor_plays_two_games_at_once(arena: Arena, start: Start) -> None:
    start(sys.executable, "-c", "import os; print(*sorted(os.environ), flush=True); input()")
    stream, match = arena.accept(), Match()
    stream.welcome()
    stream.send(game_started=match.started())
    told = stream.receive("failure").traceback
    assert "PATH" in told
    assert "ARENA_TOKEN" not in told
    process = start("sh", ARENA_GAMES_AT_ONCE="2")
    assert "set games_at_once = 1" in process.communicate(timeout=WAIT)[1]
    assert process.returncode == 2
