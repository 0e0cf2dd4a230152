"""Greedy: the move that leaves the best score, counting the income still to come."""

from arena_engine.patchwork import Move, State
from arena_engine.patchwork.track import INCOME_PASSED
from arena_sdk import Bot, Clock


class Greedy(Bot):
    """Looks one move ahead, at its own half of the position only."""

    def choose(self, state: State, clock: Clock) -> Move:  # noqa: ARG002 - needs no time
        """The move after which it is worth most; of several the one nearest to the top, then the first in the list."""

        def merit(move: Move) -> tuple[int, int]:
            return worth(state.after_unchecked(move), self.seat), -move.cells.bit_length()

        return max(state.legal_moves(), key=merit)


def worth(state: State, seat: str) -> int:
    """A seat's score if it bought nothing more: its points now, and its income at every symbol still ahead."""
    symbols_ahead = INCOME_PASSED[-1] - INCOME_PASSED[state.time(seat)]
    return state.score(seat) + state.income(seat) * symbols_ahead


if __name__ == "__main__":
    Greedy.main()
