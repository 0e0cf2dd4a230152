"""What the Patchwork engine does in a CPU-second: both cores in one run, and other engines beside them.

    python benchmarks/engine.py

Ratios are between figures of the same run. The floor of one playout a call is the batch, a plain loop in C.
python-chess and OpenSpiel are measured where they are installed. Choosing actions is left out of the steps of
``arena_engine.vector``.
"""

from __future__ import annotations

import copy
import importlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from random import Random
from typing import Any

from arena_engine.patchwork import State
from arena_engine.patchwork.core import ENGINE, PureKernel
from arena_engine.search import Search

ROUNDS = 6
SLICE_S = 0.15
CIRCLE = "UDeZXKEQbIJWCGRaBScMOdgPfTYVNFHLA"


class Pure(PureKernel):
    """A position of the pure core, beside the State of the compiled one."""

    __slots__ = ()


def rate(work: Callable[[], float]) -> float:
    """How much work a CPU-second does, the best of a few slices; ``work`` says how much it did."""
    rates = []
    for _ in range(ROUNDS):
        done, began = 0.0, time.process_time()
        while (spent := time.process_time() - began) < SLICE_S:
            done += work()
        rates.append(done / spent)
    return max(rates)


def calls(call: Callable[[], object], times: int = 1) -> Callable[[], float]:
    """Work that is so many calls."""

    def work() -> float:
        for _ in range(times):
            call()
        return times

    return work


def middle() -> list[State]:
    """The positions of a random game that have a choice."""
    state, source, states = State.new(CIRCLE), Random(4), []
    while not state.is_over:
        states.append(state)
        state = state.after(state.random_move(source))
    return [state for state in states if len(state.legal_moves()) > 1]


def author(states: list[Any]) -> float:
    """One look ahead as an author writes it: list, go there, score."""
    for state in states:
        seat = state.seat_to_move
        max(state.after(move).score(seat) for move in state.legal_moves())
    return len(states)


def by_hand(states: list[Any]) -> float:
    """All moves of some positions."""
    count = 0
    for state in states:
        for move in state.legal_moves():
            state.after(move)
            count += 1
    return count


def listed(states: list[Any]) -> float:
    """All lists of some positions."""
    for state in states:
        state.legal_moves()
    return len(states)


def core(kind: Any, name: str, times: int) -> dict[str, float]:
    """The figures that both cores have."""
    first, source = kind.new(CIRCLE), Random(1)
    states = [kind(*state._fields) for state in middle()]
    return {
        f"random_games_per_cpu_s_{name}": rate(calls(lambda: first.playout(source), times)),
        f"slot_games_per_cpu_s_{name}": rate(calls(lambda: first.playout(source, "slot"), times)),
        f"first_fit_games_per_cpu_s_{name}": rate(calls(lambda: first.playout(source, "first_fit"), times)),
        f"legal_moves_per_cpu_s_{name}": rate(lambda: listed(states)),
        f"after_per_cpu_s_{name}": rate(lambda: by_hand(states)) if times > 1 else rate(lambda: by_hand(states[-9:])),
        f"looks_ahead_per_cpu_s_{name}": rate(lambda: author(states[-9:])),
        f"copies_per_cpu_s_{name}": rate(calls(lambda: copy.copy(first), 100)),
        f"perft_leaves_per_cpu_s_{name}": rate(lambda: states[-9].perft(2)),
    }


def compiled() -> dict[str, float]:
    """The figures of the compiled core, and its ratios to the pure one."""
    first, source = State.new(CIRCLE), Random(1)
    figures = {**core(State, "compiled", 200), **core(Pure, "pure", 1)}
    for what in ("random_games", "legal_moves", "after", "looks_ahead", "perft_leaves"):
        per_s = f"{what}_per_cpu_s"
        figures[f"{what}_compiled_over_pure"] = figures[f"{per_s}_compiled"] / figures[f"{per_s}_pure"]
    floor = rate(lambda: first.playouts(1000, source).games)
    return figures | {
        "random_games_per_cpu_s_floor": floor,
        "floor_over_random_games": floor / figures["random_games_per_cpu_s_compiled"],
        "uct_playouts_per_cpu_s": uct(first, width=0, policy="uniform"),
        "uct_playouts_per_cpu_s_tidy": uct(first, width=2, policy="first_fit"),
    }


def uct(first: State, *, width: int, policy: str) -> float:
    """Playouts of searches from the first position."""

    def search() -> float:
        made = Search(first, Random(1), width=width, policy=policy)
        made.run(20_000)
        return made.visits

    return rate(search)


def vector(n: int = 256) -> float:
    """Steps of single games a CPU-second, many at once."""
    games = importlib.import_module("arena_engine.vector").Games(n, random=Random(1))
    games.reset()
    spent, steps = 0.0, 0
    while spent < SLICE_S:
        actions = games.random_actions()
        began = time.process_time()
        games.step(actions)
        spent += time.process_time() - began
        steps += n
    return steps / spent


def others(figures: dict[str, float]) -> dict[str, float]:
    """Other engines, called from Python as an author calls them."""
    found = {}
    name = "compiled" if ENGINE == "compiled" else "pure"
    if find_spec("chess"):
        board = importlib.import_module("chess").Board()
        found["chess_perft_leaves_per_cpu_s"] = rate(lambda: chess_perft(board, 3))
        found["perft_over_chess"] = figures[f"perft_leaves_per_cpu_s_{name}"] / found["chess_perft_leaves_per_cpu_s"]
    if find_spec("pyspiel"):
        othello, source = importlib.import_module("pyspiel").load_game("othello"), Random(1)
        found["othello_plies_per_cpu_s"] = rate(lambda: plies_of_spiel(othello, source))
        ours = rate(lambda: plies_of(State.new(CIRCLE), source))
        found["plies_over_othello"] = ours / found["othello_plies_per_cpu_s"]
    return found


def chess_perft(board: Any, depth: int) -> int:
    if depth == 1:
        return int(board.legal_moves.count())
    leaves = 0
    for move in board.legal_moves:
        board.push(move)
        leaves += chess_perft(board, depth - 1)
        board.pop()
    return leaves


def plies_of_spiel(game: Any, source: Random) -> int:
    """A random game of OpenSpiel; Othello's are about as long as Patchwork's."""
    state, plies = game.new_initial_state(), 0
    while not state.is_terminal():
        state.apply_action(source.choice(state.legal_actions()))
        plies += 1
    return plies


def plies_of(state: State, source: Random) -> int:
    """A random game, written in the same way."""
    plies = 0
    while not state.is_over:
        state = state.after(source.choice(state.legal_moves()))
        plies += 1
    return plies


def import_ms() -> float:
    """CPU milliseconds to import the engine, above those of an empty interpreter."""
    code = "import time; began = time.process_time(); import {}; print(time.process_time() - began)"

    def once() -> float:
        command = [sys.executable, "-c", code.format("arena_engine.patchwork")]
        return 1000 * float(subprocess.run(command, capture_output=True, check=True, text=True).stdout)

    return statistics.median(once() for _ in range(5))


def measure() -> dict[str, float]:
    """All figures; only those of the pure core where it is the only one."""
    figures = compiled() if ENGINE == "compiled" else core(State, "pure", 1)
    if find_spec("numpy"):
        figures["vector_steps_per_s_n256"] = vector()
    return {**figures, **others(figures), "engine_import_cpu_ms": import_ms()}


if __name__ == "__main__":
    for figure, value in measure().items():
        print(f"{figure:36} {value:14,.2f}")
