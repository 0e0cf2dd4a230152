"""Patchwork for one learner: ``gymnasium.make("Patchwork-v0")`` and ``"PatchworkRevised-v0"``.

Importing this module registers both; ``gymnasium.make("arena_engine.adapters.gymnasium:Patchwork-v0")`` imports it.
Observations are the rows of ``arena_engine.patchwork.observation``, actions the ids of
``arena_engine.patchwork.encoding``.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, SupportsIndex

import gymnasium
import numpy as np
from numpy.typing import NDArray

from arena_engine.adapters import episodes, opponents
from arena_engine.adapters.opponents import Opponent
from arena_engine.game import GameOverError, IllegalMoveError
from arena_engine.patchwork import GAME
from arena_engine.patchwork.arrays import legal_mask, observation
from arena_engine.patchwork.deal import check_edition
from arena_engine.patchwork.encoding import ACTIONS, action_move
from arena_engine.patchwork.notation import SEATS
from arena_engine.patchwork.observation import MOST, SIZE

Step = tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]


class PatchworkEnv(gymnasium.Env[NDArray[np.uint8], np.int64]):
    """One seat of Patchwork, against an opponent that moves within ``step`` and ``reset``.

    Every ``info`` has ``action_mask`` (int8, ``(2026,)``), ``seat`` (the learner's) and ``opponent_moves`` (texts,
    since the learner's last move); that of ``reset`` has ``opponent`` too, that of the last step ``scores``. An illegal
    action ends the episode as a loss: ``info["illegal"]`` is the reason, the position stays.

    Attributes:
        state: the position.
        seat: the learner's seat in this episode.

    Args:
        edition: ``"original"`` or ``"revised"``.
        opponent: a bot's class, a function of position to move, a BOT as the command line takes it (``"greedy"``), None
            for uniformly random moves, or a list of these, of which each episode draws one.
        seat: ``"a"``, ``"b"``, or ``"alternate"``: a in the first episode and in the one after each seed.
        reward: ``"win"`` is 1 or -1, ``"margin"`` the difference in points; both come with the last step.
        render_mode: ``"ansi"`` or ``"human"``.

    Raises:
        GameError: an unknown setting.
    """

    metadata = {  # noqa: RUF012 - Gymnasium's own name for it
        "render_modes": episodes.RENDER_MODES,
        "render_fps": 1,
    }

    def __init__(
        self,
        *,
        edition: str = "original",
        opponent: Opponent | Sequence[Opponent] = None,
        seat: str = "alternate",
        reward: str = "win",
        render_mode: str | None = None,
    ) -> None:
        episodes.check_choice("seat", seat, (*SEATS, "alternate"))
        episodes.check_choice("reward", reward, episodes.REWARDS)
        episodes.check_choice("render_mode", render_mode, (None, *episodes.RENDER_MODES))
        self.observation_space = gymnasium.spaces.Box(0, MOST, (SIZE,), np.uint8)
        self.action_space = gymnasium.spaces.Discrete(ACTIONS)
        self.render_mode = render_mode
        self._edition = check_edition(edition)
        self._opponents = opponents.pool(opponent)
        self._seats = SEATS if seat == "alternate" else seat
        self._reward = reward
        self._episode = 0
        self._on = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Starts an episode; the opponent has moved if it is first.

        Args:
            seed: of everything random: circle, opponent and the opponent's own seed.
            options: ``circle`` to deal, ``position`` (a State or its text) to start from.

        Raises:
            DealError: no such circle.
            PositionError: no position of this edition.
            GameOverError: a finished position, or one that the opponent's first moves finish.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._episode = 0
        source = Random(int(self.np_random.integers(2**63)))  # noqa: S311 - play, not secrets
        self.state = episodes.start(self._edition, source, options)
        self.seat = self._seats[self._episode % len(self._seats)]
        self._episode += 1
        opponent = source.choice(self._opponents)
        self._choose = opponents.seated(opponent, GAME.name, SEATS[self.seat == "a"], source)
        replies = self._reply()
        if self.state.is_over:
            raise GameOverError("reset", self.state.text, f"the game ended before seat {self.seat} could move")
        self._on = True
        return self._seen(), {**self._info(replies), "opponent": opponents.label(opponent)}

    def step(self, action: SupportsIndex) -> Step:
        """Makes the learner's move, then those of the opponent.

        Args:
            action: an action id; legal ones are in ``action_masks()``.

        Raises:
            GameOverError: there is no episode.
            IllegalMoveError: the opponent's move is illegal.
        """
        if not self._on:
            raise GameOverError("step", "", "no episode is on: call reset")
        try:
            self.state = self.state.after(action_move(self.state, action))
        except IllegalMoveError as refusal:
            self._on = False
            reward = self._mine(episodes.forfeit(self.seat, self._reward))
            return self._seen(), reward, True, False, {**self._info([]), "illegal": str(refusal)}
        info = self._info(self._reply())
        self._on = not self.state.is_over
        if self.state.is_over:
            info["scores"] = self.state.scores()
        reward = self._mine(episodes.payoff(self.state, self._reward))
        return self._seen(), reward, self.state.is_over, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal action ids: ``(2026,)``, as maskable learners ask for them; all False when the game is over."""
        return legal_mask(self.state)

    def render(self) -> str | None:
        """The position as text in mode ``ansi``; prints it in mode ``human``."""
        return episodes.render(self.state, self.render_mode)

    def _reply(self) -> list[str]:
        """Lets the opponent move until it is the learner's turn; its moves."""
        texts = []
        while not self.state.is_over and self.state.seat_to_move != self.seat:
            move = opponents.reply(self._choose, self.state)
            self.state = self.state.after(move)
            texts.append(move.text)
        return texts

    def _seen(self) -> NDArray[np.uint8]:
        if self.render_mode == "human":
            self.render()
        return observation(self.state, self.seat)

    def _info(self, replies: list[str]) -> dict[str, Any]:
        return {"action_mask": self.action_masks().view(np.int8), "seat": self.seat, "opponent_moves": replies}

    def _mine(self, rewards: tuple[float, float]) -> float:
        return rewards[SEATS.index(self.seat)]


def _register() -> None:
    for name, edition in (("Patchwork-v0", "original"), ("PatchworkRevised-v0", "revised")):
        gymnasium.register(name, f"{__name__}:{PatchworkEnv.__name__}", kwargs={"edition": edition})


_register()
