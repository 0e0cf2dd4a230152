"""MCTS: plays whole games from the positions that look best so far, for as long as its clock allows.

The search is the engine's: ``arena_engine.search``. A patch fits in hundreds of places, so the tree holds only the
tidiest few of each; playouts buy at random and place a patch into the first corner where it fits.
"""

from arena_engine.patchwork import Move, State
from arena_engine.search import Search
from arena_sdk import Bot, Clock


class Mcts(Bot):
    """The more time, the better it plays. All but the number of playouts follows from the seat's seed."""

    search: Search | None = None

    def choose(self, state: State, clock: Clock) -> Move:
        """The move that was tried most; ``clock.budget`` ends the search well before the bot loses on time."""
        moves = state.legal_moves()
        if len(moves) == 1:
            return moves[0]
        if self.search is None:
            self.search = Search(state, self.random, c=float(self.options["c"]), width=int(self.options["tries"]))
        self.search.move_to(state)
        best = self.search.run(int(self.options["playouts"]) or None, stop=lambda: clock.budget <= 0)
        (line,) = (line for line in self.search.lines() if line.move is best)
        self.log(f"{self.search.visits} playouts, won {line.value / line.visits:.0%}")
        return best


if __name__ == "__main__":
    Mcts.main()
