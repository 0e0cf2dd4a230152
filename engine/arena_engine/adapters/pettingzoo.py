"""Patchwork for two learners: ``arena_engine.adapters.pettingzoo.env()``, an environment of PettingZoo's AEC kind.

Agents are ``player_0`` (seat a) and ``player_1`` (seat b). An observation is a dictionary: ``observation`` is a row of
``arena_engine.patchwork.observation`` from the agent's side, ``action_mask`` has 1 for each legal action id, but none
for an agent that is not to move.
"""

from __future__ import annotations

from random import Random
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from arena_engine.adapters import episodes
from arena_engine.game import IllegalMoveError
from arena_engine.patchwork.arrays import legal_mask, observation
from arena_engine.patchwork.deal import check_edition
from arena_engine.patchwork.encoding import ACTIONS, action_move
from arena_engine.patchwork.notation import SEATS
from arena_engine.patchwork.observation import MOST, SIZE

AGENTS = ["player_0", "player_1"]
"""The agents in seat order."""


def env(edition: str = "original", *, reward: str = "win", render_mode: str | None = None) -> Any:
    """The environment with PettingZoo's check of the order of calls; see ``PatchworkAEC``."""
    return wrappers.OrderEnforcingWrapper(PatchworkAEC(edition, reward=reward, render_mode=render_mode))


class PatchworkAEC(AECEnv):  # type: ignore[misc]  # PettingZoo ships no types
    """Both seats of Patchwork.

    An illegal action ends the game as a loss for its agent, whose ``info["illegal"]`` is the reason.

    Attributes:
        position: the position.

    Args:
        edition: ``"original"`` or ``"revised"``.
        reward: ``"win"`` is 1 or -1, ``"margin"`` the difference in points; both come at the end.
        render_mode: ``"ansi"`` or ``"human"``.

    Raises:
        GameError: an unknown setting.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "patchwork_v0",
        "render_modes": episodes.RENDER_MODES,
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(self, edition: str = "original", *, reward: str = "win", render_mode: str | None = None) -> None:
        super().__init__()
        episodes.check_choice("reward", reward, episodes.REWARDS)
        episodes.check_choice("render_mode", render_mode, (None, *episodes.RENDER_MODES))
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        self._edition = check_edition(edition)
        self._reward = reward
        self._source = Random()  # noqa: S311 - play, not secrets
        self._observed = {agent: _observed() for agent in AGENTS}
        self._actions = {agent: Discrete(ACTIONS) for agent in AGENTS}

    def observation_space(self, agent: str) -> Dict:
        """The same object for each call with an agent."""
        return self._observed[agent]

    def action_space(self, agent: str) -> Discrete[Any]:
        """The same object for each call with an agent."""
        return self._actions[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a game.

        Args:
            seed: of the circle.
            options: ``circle`` to deal, ``position`` (a State or its text) to start from; other keys are left alone.

        Raises:
            DealError: no such circle.
            PositionError: no position of this edition.
            GameOverError: the position is that of a finished game.
        """
        if seed is not None:
            self._source.seed(seed)
        self.position = episodes.start(self._edition, self._source, options)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self._skip_agent_selection = None
        self._select()

    def step(self, action: int | None) -> None:
        """Makes the move of ``agent_selection``; None for an agent whose game is over."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        try:
            self.position = self.position.after(action_move(self.position, action))  # type: ignore[arg-type]  # refused
            self._pay(episodes.payoff(self.position, self._reward), over=self.position.is_over)
        except IllegalMoveError as refusal:
            self.infos[agent] = {"illegal": str(refusal)}
            self._pay(episodes.forfeit(SEATS[AGENTS.index(agent)], self._reward), over=True)
        self._select()

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """What an agent sees; the arrays are its own."""
        seat = SEATS[AGENTS.index(agent)]
        moving = seat in self.position.to_move
        mask = legal_mask(self.position).view(np.int8) if moving else np.zeros(ACTIONS, np.int8)
        return {"observation": observation(self.position, seat), "action_mask": mask}

    def render(self) -> str | None:
        """The position as text in mode ``ansi``; prints it in mode ``human``."""
        return episodes.render(self.position, self.render_mode)

    def close(self) -> None:
        """Nothing is held."""

    def _pay(self, rewards: tuple[float, float], *, over: bool) -> None:
        self.rewards = dict(zip(AGENTS, rewards, strict=True))
        self.terminations = dict.fromkeys(AGENTS, over)
        self._accumulate_rewards()

    def _select(self) -> None:
        """The seat to move; in a finished game the agents leave in order."""
        if self.position.to_move:
            self.agent_selection = AGENTS[SEATS.index(self.position.seat_to_move)]
        self._deads_step_first()
        if self.render_mode == "human":
            self.render()


def _observed() -> Dict:
    return Dict({"observation": Box(0, MOST, (SIZE,), np.uint8), "action_mask": Box(0, 1, (ACTIONS,), np.int8)})
