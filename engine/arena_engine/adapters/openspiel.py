"""Patchwork as a game of OpenSpiel: ``pyspiel.load_game("patchwork(edition=revised)")`` once this module is imported.

The circle is dealt by 32 chance nodes, clockwise from the neutral token, patch ``A`` being last; with the parameter
``circle`` nothing is left to chance. Actions are the ids of ``arena_engine.patchwork.encoding``, in chance nodes the
patch's index in ``A``-``Z``, ``a``-``g``. The first player is seat a. Returns are 1 and -1.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyspiel
from numpy.typing import NDArray
from open_spiel.python.observation import IIGObserverForPublicInfoGame

from arena_engine.adapters.episodes import check_same, payoff
from arena_engine.patchwork import GAME, IllegalMoveError, Move, State
from arena_engine.patchwork.arrays import legal_mask, split
from arena_engine.patchwork.deal import LAST, check_circle, check_edition
from arena_engine.patchwork.encoding import ACTIONS, action_move
from arena_engine.patchwork.notation import SEATS
from arena_engine.patchwork.observation import SIZE, observe
from arena_engine.patchwork.patches import LETTERS
from arena_engine.patchwork.track import EDITIONS, FINAL, LEATHER_SPACES

_LONGEST = len(SEATS) * FINAL + max(map(len, LEATHER_SPACES.values()))  # every other move takes a token onward


def _type(chance: pyspiel.GameType.ChanceMode) -> pyspiel.GameType:
    kind = pyspiel.GameType
    return kind(
        short_name=GAME.name,
        long_name="Patchwork",
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=chance,
        information=kind.Information.PERFECT_INFORMATION,
        utility=kind.Utility.ZERO_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=len(SEATS),
        min_num_players=len(SEATS),
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={"edition": EDITIONS[0], "circle": ""},
    )


def _info(*, dealt: bool) -> pyspiel.GameInfo:
    return pyspiel.GameInfo(
        num_distinct_actions=ACTIONS,
        max_chance_outcomes=0 if dealt else len(LETTERS),
        num_players=len(SEATS),
        min_utility=-1.0,
        max_utility=1.0,
        utility_sum=0.0,
        max_game_length=_LONGEST,
    )


class PatchworkGame(pyspiel.Game):  # type: ignore[misc]  # OpenSpiel ships no types
    """The game of one edition.

    Args:
        params: ``edition``, and ``circle`` for games that all have the same one.

    Raises:
        DealError: no such edition or circle.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = params or {}
        self.edition = check_edition(given.get("edition", EDITIONS[0]))
        self.circle = given.get("circle", "") and check_circle(given["circle"])
        modes = pyspiel.GameType.ChanceMode
        chance = modes.DETERMINISTIC if self.circle else modes.EXPLICIT_STOCHASTIC
        super().__init__(_type(chance), _info(dealt=bool(self.circle)), given)

    def new_initial_state(self, state: str | None = None) -> PatchworkState:
        """A game before its deal, or at a position.

        Args:
            state: a position's text, to start there; None for the beginning.

        Raises:
            PositionError: no position of this edition.
        """
        if state is None:
            return PatchworkState(self, State.new(self.circle, self.edition) if self.circle else None)
        position = State.from_text(state)
        check_same(position, self.edition)
        return PatchworkState(self, position)

    def max_chance_nodes_in_history(self) -> int:
        """How many patches are dealt by chance."""
        return 0 if self.circle else len(LETTERS) - 1

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> Any:
        """What a player sees, or, with perfect recall, the history."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return PatchworkObserver(params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


class PatchworkState(pyspiel.State):  # type: ignore[misc]  # likewise
    """A game in progress.

    Attributes:
        position: the position; None while the circle is dealt.

    Args:
        game: what is played.
        position: where it starts; None to deal first.
    """

    def __init__(self, game: PatchworkGame, position: State | None) -> None:
        super().__init__(game)
        self.position = position
        self._edition = game.edition
        self._dealt = ""

    def current_player(self) -> int:
        """The player to move, or what OpenSpiel calls chance and the end."""
        if self.position is None:
            return int(pyspiel.PlayerId.CHANCE)
        if self.position.is_over:
            return int(pyspiel.PlayerId.TERMINAL)
        return SEATS.index(self.position.seat_to_move)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The patches that may come next, all equally likely."""
        left = [number for number, letter in enumerate(LETTERS) if letter not in self._dealt + LAST]
        return [(number, 1 / len(left)) for number in left]

    def is_terminal(self) -> bool:
        """Whether the game has ended."""
        return self.position is not None and self.position.is_over

    def returns(self) -> list[float]:
        """1 to the winner and -1 to the loser; 0 before the end."""
        return [0.0, 0.0] if self.position is None else list(payoff(self.position, "win"))

    def __str__(self) -> str:
        return f"deal {self._dealt or '-'}" if self.position is None else self.position.text

    def _legal_actions(self, player: int) -> list[int]:
        if self.position is None or player != self.current_player():
            return []
        actions: list[int] = np.flatnonzero(legal_mask(self.position)).tolist()
        return actions

    def _apply_action(self, action: int) -> None:
        if self.position is not None:
            self.position = self.position.after(action_move(self.position, action))
            return
        if action not in dict(self.chance_outcomes()):
            raise IllegalMoveError(
                action, str(self), "chance deals each of the other patches once, the last patch never"
            )
        self._dealt += LETTERS[action]
        if len(self._dealt) == len(LETTERS) - 1:
            self.position = State.new(self._dealt + LAST, self._edition)

    def _action_to_string(self, _player: int, action: int) -> str:
        return LETTERS[action] if self.position is None else str(action_move(self.position, action))


class PatchworkObserver:
    """The row of ``arena_engine.patchwork.observation`` as floats, unscaled; zeros while the circle is dealt.

    Attributes:
        tensor: ``(583,)``, written by ``set_from``.
        dict: its parts by name, as views.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        if params:
            raise pyspiel.SpielError(f"observations of Patchwork take no parameters, not {params}")
        self.tensor: NDArray[np.float32] = np.zeros(SIZE, np.float32)
        self.dict = split(self.tensor)

    def set_from(self, state: PatchworkState, player: int) -> None:
        """Looks at a state from a player's side."""
        row = bytes(SIZE) if state.position is None else observe(state.position, SEATS[player])
        self.tensor[:] = np.frombuffer(row, np.uint8)

    def string_from(self, state: PatchworkState, _player: int) -> str:
        """The position, which both players see."""
        return str(state)


def choose(bot: pyspiel.Bot, position: State) -> Move:
    """The move of one of OpenSpiel's bots in a position, so that it may play in an arena or be an opponent.

    The bot is asked in a game that begins there, so it must not depend on what was played before.
    """
    return action_move(position, bot.step(game(position.edition).new_initial_state(position.text)))


@cache
def game(edition: str) -> PatchworkGame:
    """The game of an edition with the circle left to chance; raises DealError."""
    return PatchworkGame({"edition": edition})


pyspiel.register_game(_type(pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC), PatchworkGame)
