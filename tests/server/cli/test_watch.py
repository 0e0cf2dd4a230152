"""`arena watch`, from a stand-in for what is played."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from here import Arena
from serving import served
from tournaments import begin, patchwork_spec

from arena_server.executors import Running
from arena_server.store import Store


class Stage:
    """A game of which more is played at each look, until it is over."""

    def __init__(self, store: Store) -> None:
        self.playing = begin(store, patchwork_spec(2, 2), name="cup")
        self.result = self.playing.results()[0]
        self.looks = 0

    def running(self) -> list[Running]:
        self.looks += 1
        if self.looks > 3:
            return []
        moves = tuple(f"{move.seat} {move.move}" for move in self.result.moves[: self.looks - 1])
        return [Running(self.result.assignment, self.looks, "a", 0.1, moves)]


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_a_game_line_by_line(arena: Arena, tmp_path: Path, *, as_json: bool) -> None:
    with Store.open(str(tmp_path / "live.db")) as store:
        stage = Stage(store)

        def end() -> None:
            """Records the game once it is played no more, and stops the reader."""
            while stage.looks < 4:
                time.sleep(0.01)
            store.record([stage.result])
            looks = stage.looks
            while stage.looks < looks + 4:  # looks at the store in between
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        ending = threading.Thread(target=end)
        with stage.playing.lock, served(store, live=stage) as address:
            ending.start()
            done = arena("watch", "--server", address, *(("--json",) if as_json else ()))
            ending.join()
    assert done.code == 130
    moves = [f"{move.seat} {move.move}" for move in stage.result.moves[:2]]
    lines = done.out.splitlines()
    if as_json:
        told = [json.loads(line) for line in lines]
        assert [one["event"] for one in told] == ["began", "played", "played", "ended"]
        assert (told[0]["seats"], told[2]["plies"], told[2]["ply"]) == (["bot0 1.0", "bot1 1.0"], moves[1:], 1)
        assert (told[3]["id"], told[3]["status"]) == ("cup/1", "finished")
        return
    first, second, third, last = lines
    assert first == "cup/1 is played by bot0 1.0 (a), bot1 1.0 (b)"
    assert (second, third) == (f"cup/1 1: {moves[0]}", f"cup/1 2: {moves[1]}")
    outcome = stage.result.outcome
    assert outcome is not None
    winner = ("bot0 1.0", "bot1 1.0")[outcome.ranks.index(1)]
    score = ":".join(map(str, outcome.scores))
    plies = stage.result.moves[-1].ply + 1
    assert last == f"cup/1 is over: {winner} won {score} (bot0 1.0, bot1 1.0), normal, {plies} plies"
