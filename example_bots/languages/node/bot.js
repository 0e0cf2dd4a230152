// A bot without an engine: the arena tells it the position and the legal moves, it picks one.

import { play } from "./arena.js";

class Buyer {
  // started: a GameStarted message (seat, seats, deal, time_control, seed, ...); options: as bot.toml declares them.
  constructor(started, options) {
    this.seat = started.seat;
  }

  // request: a MoveRequest message (position, legal_moves, clock, ...); log(text): a line for the game's record.
  choose(request, log) {
    const buys = request.legal_moves.filter((move) => move !== ">");
    log(`${buys.length} of ${request.legal_moves.length} moves place a patch`);
    return buys.at(0) ?? ">";
  }

  // over: a GameOver message (ending, ranks, scores, reason, ...).
  end(over) {}
}

process.exitCode = await play(Buyer);
