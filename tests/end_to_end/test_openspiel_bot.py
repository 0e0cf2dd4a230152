"""OpenSpiel's search as a bot of the arena: through the referee, against one of our bots."""

from __future__ import annotations

from pathlib import Path

from command import arena, games, script
from requirements import require_module

require_module("pyspiel")

BOT = """
    import numpy as np
    import pyspiel
    from open_spiel.python.algorithms import mcts

    from arena_engine.adapters import openspiel
    from arena_sdk import Bot

    class Search(Bot):
        def on_start(self):
            source = np.random.RandomState(self.seed % 2**32)
            evaluator = mcts.RandomRolloutEvaluator(1, source)
            self.search = mcts.MCTSBot(openspiel.game("revised"), 1.4, 2, evaluator, random_state=source, solve=False)

        def choose(self, state, clock):
            return openspiel.choose(self.search, state)

    if __name__ == "__main__":
        Search.main()
"""


def test_openspiel_s_mcts_plays_greedy_through_the_referee(tmp_path: Path) -> None:
    bot = script(tmp_path, "openspiel-mcts", BOT)
    done = arena("run-tournament", bot, "greedy", "--games", "2", "--time", "10s", "--edition", "revised", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    records = games(tmp_path)
    assert [record["termination"] for record in records] == ["normal", "normal"]
