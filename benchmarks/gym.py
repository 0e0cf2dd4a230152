"""Steps a CPU-second of the Gymnasium adapter, a uniformly random opponent's moves included, choosing actions not."""

from __future__ import annotations

import random
import time
from typing import Any

import gymnasium

import arena_engine.adapters.gymnasium  # noqa: F401 - registers Patchwork-v0


def measure(games: int = 200) -> dict[str, float]:
    """Plays whole episodes again that were played at random before."""
    env = gymnasium.make("Patchwork-v0")
    source = random.Random(1)
    episodes = [_play(env, seed, source) for seed in range(games)]
    began = time.process_time()
    for seed, actions in enumerate(episodes):
        env.reset(seed=seed)
        for action in actions:
            env.step(action)
    return {"gym_steps_per_s": sum(map(len, episodes)) / (time.process_time() - began)}


def _play(env: Any, seed: int, source: random.Random) -> list[int]:
    """The actions of an episode, each uniform over the legal ones."""
    _, info = env.reset(seed=seed)
    actions, over = [], False
    while not over:
        actions.append(int(source.choice(info["action_mask"].nonzero()[0])))
        *_, over, _, info = env.step(actions[-1])
    return actions


if __name__ == "__main__":
    print(measure())
