"""Many games of Patchwork at once, for learners: one call plays a move in each of them (numpy, extra ``rl``).

    games = Games(256, random=Random(1))
    observations, masks, movers = games.reset()
    while True:
        actions = policy(observations, masks)
        observations, masks, movers, rewards, done = games.step(actions)

A finished game is followed at once by a new deal: ``done`` and ``rewards`` speak of the one that ended, the other
arrays of the new one. The arrays are the same ones each time; copy what must outlast the next call. The compiled core
plays without Python's lock; where it is missing, Python plays the same games slowly.
"""

from __future__ import annotations

from random import Random, SystemRandom
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from arena_engine.game import GameError, IllegalMoveError
from arena_engine.patchwork.core import ENGINE
from arena_engine.patchwork.deal import LAST, check_edition
from arena_engine.patchwork.encoding import ACTIONS, EncodingError, action_id
from arena_engine.patchwork.notation import SEATS
from arena_engine.patchwork.observation import SIZE, observe
from arena_engine.patchwork.patches import LETTERS
from arena_engine.patchwork.playout import SplitMix, check_policy, choose
from arena_engine.patchwork.state import State
from arena_engine.patchwork.track import EDITIONS

REWARDS = ("win", "margin")


class Step(NamedTuple):
    """What ``Games.step`` gives, a row for each of n games.

    Attributes:
        observations: uint8 ``(n, 583)``, see ``arena_engine.patchwork.observation``, from the mover's side.
        masks: bool ``(n, 2026)``, the legal action ids.
        movers: int8 ``(n,)``, 0 where seat a moves next and 1 where seat b does.
        rewards: float32 ``(n, 2)``, of seats a and b: 0 until the game ends.
        done: bool ``(n,)``, whether this move ended the game.
    """

    observations: NDArray[np.uint8]
    masks: NDArray[np.bool_]
    movers: NDArray[np.int8]
    rewards: NDArray[np.float32]
    done: NDArray[np.bool_]


class _Core(Protocol):
    """What plays; arrays are filled in place."""

    def show(self, arrays: tuple[Any, Any, Any], /) -> None: ...
    def step(self, arrays: tuple[Any, Any, Any, Any, Any, Any], /) -> int: ...
    def choose(self, arrays: tuple[Any], policy: str, /) -> None: ...
    def state(self, kind: type[State], index: int, /) -> State: ...


class Games:
    """So many games, each with a deal of its own.

    Args:
        n: how many, 1 to 1,000,000.
        edition: ``"original"`` or ``"revised"``.
        reward: ``"win"`` is 1 or -1, ``"margin"`` the difference in points.
        random: gives one 64-bit seed for all deals; None for the system's.

    Raises:
        GameError: an unknown setting.
    """

    def __init__(
        self, n: int, *, edition: str = EDITIONS[0], reward: str = "win", random: Random | None = None
    ) -> None:
        if not 1 <= n <= 1_000_000:  # noqa: PLR2004 - what the message says
            raise GameError(n, "", "games at once are 1 to 1000000")
        if reward not in REWARDS:
            raise GameError(reward, "", "a reward is win or margin")
        self._made = (n, random or SystemRandom(), check_edition(edition), reward == "margin")
        self._core = _make(*self._made)
        self._actions = np.zeros(n, np.int64)
        self._now = Step(
            np.zeros((n, SIZE), np.uint8),
            np.zeros((n, ACTIONS), np.bool_),
            np.zeros(n, np.int8),
            np.zeros((n, len(SEATS)), np.float32),
            np.zeros(n, np.bool_),
        )

    def __len__(self) -> int:
        return len(self._actions)

    def reset(self) -> tuple[NDArray[np.uint8], NDArray[np.bool_], NDArray[np.int8]]:
        """Deals all games anew; observations, masks and movers as in ``Step``."""
        self._core = _make(*self._made)
        self._core.show(self._now[:3])
        return self._now[:3]

    def step(self, actions: NDArray[np.integer[Any]]) -> Step:
        """Plays an action in each game.

        Args:
            actions: integers ``(n,)``.

        Raises:
            EncodingError: another shape or kind.
            IllegalMoveError: an action is illegal; no game has moved.
        """
        given = np.asarray(actions)
        if given.shape != (len(self),) or given.dtype.kind not in "iu":
            raise EncodingError(f"{given.dtype} {given.shape}", "", f"actions are {len(self)} integers")
        self._actions[:] = given
        illegal = self._core.step((self._actions, *self._now))
        if illegal >= 0:
            self._refuse(illegal, int(given[illegal]))
        return self._now

    def _refuse(self, index: int, action: int) -> None:
        state = self.state(index)
        try:
            state.after_action(action)
        except IllegalMoveError as error:
            raise IllegalMoveError(action, state.text, f"in game {index}: {error.why}") from None

    def random_actions(self, policy: str = "uniform") -> NDArray[np.int64]:
        """A random legal action for each game; policies are those of ``arena_engine.patchwork.playout``."""
        actions = np.zeros(len(self), np.int64)
        self._core.choose((actions,), check_policy(policy))
        return actions

    def state(self, index: int) -> State:
        """The position of one game; raises IndexError."""
        return self._core.state(State, index)


def _make(n: int, random: Random, edition: str, by_margin: bool) -> _Core:  # noqa: FBT001 - as the core takes it
    if ENGINE != "compiled":
        return _PureGames(n, random, edition, by_margin)
    from arena_engine.patchwork import _core  # noqa: PLC0415 - it is there

    return _core.Games(n, random, edition, by_margin)


class _PureGames:
    """The same in Python."""

    def __init__(self, n: int, random: Random, edition: str, by_margin: bool) -> None:  # noqa: FBT001 - likewise
        self._source = SplitMix(random.getrandbits(64))
        self._edition = edition
        self._by_margin = by_margin
        self._states = [self._deal() for _ in range(n)]

    def _deal(self) -> State:
        """A Fisher-Yates shuffle, from its end, of all patches but the last one."""
        circle = [letter for letter in LETTERS if letter != LAST]
        for index in range(len(circle) - 1, 0, -1):
            other = self._source.below(index + 1)
            circle[index], circle[other] = circle[other], circle[index]
        return State.new("".join(circle) + LAST, self._edition)

    def show(self, arrays: tuple[Any, Any, Any]) -> None:
        for index in range(len(self._states)):
            self._show(index, *arrays)

    def _show(self, index: int, observations: Any, masks: Any, movers: Any) -> None:
        state = self._states[index]
        observations[index] = np.frombuffer(observe(state), np.uint8)
        masks[index] = np.frombuffer(state.action_mask(), np.bool_)
        movers[index] = SEATS.index(state.seat_to_move)

    def step(self, arrays: tuple[Any, Any, Any, Any, Any, Any]) -> int:
        actions, *shown, rewards, done = arrays
        following = []
        for index, (state, action) in enumerate(zip(self._states, actions.tolist(), strict=True)):
            try:
                following.append(state.after_action(action))
            except IllegalMoveError:
                return index
        for index, state in enumerate(following):
            done[index] = state.is_over
            rewards[index] = self._rewards(state)
            self._states[index] = self._deal() if state.is_over else state
            self._show(index, *shown)
        return -1

    def _rewards(self, state: State) -> tuple[int, int]:
        if not state.is_over:
            return 0, 0
        a, b = state.scores()
        won = a - b if self._by_margin else 1 if state.winner == "a" else -1
        return won, -won

    def choose(self, arrays: tuple[Any], policy: str) -> None:
        moves = [choose(state, policy, self._source) for state in self._states]
        arrays[0][:] = [action_id(state, move) for state, move in zip(self._states, moves, strict=True)]

    def state(self, kind: type[State], index: int) -> State:  # noqa: ARG002 - the compiled core makes one
        if not 0 <= index < len(self._states):
            raise IndexError("there is no such game")
        return self._states[index]
