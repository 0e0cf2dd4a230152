// The arena's protocol (docs/protocol.md) for any bot: dials, says Hello, plays game after game, and comes back to them
// after a lost stream.

import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";

const PROTOCOL = 1;
const PATIENCE_MS = 30_000; // for which the arena that started the bot is looked for
const REMOTE_PATIENCE_MS = 3_600_000; // and a standing server
const FIRST_DELAY_MS = 50; // between attempts at first: the bot may be on its clock
const LAST_DELAY_MS = 2_000; // and at last: a crowd of bots must not trample the arena
const DONE = 0;
const FAILED = 1;
const REFUSED = 2;
const LOST = 3;

const CHANNEL_OPTIONS = {
  "grpc.enable_http_proxy": 0, // an arena is dialled directly
  "grpc.use_local_subchannel_pool": 1, // every stream connects anew, without the last failure's backoff
  "grpc.keepalive_time_ms": 10_000, // a vanished arena is noticed; pings closer than 4 s are forbidden
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.max_receive_message_length": 1024 * 1024,
};

const REFUSALS = {
  [grpc.status.UNAUTHENTICATED]: "check ARENA_TOKEN",
  [grpc.status.PERMISSION_DENIED]: "check that the bot behind ARENA_TOKEN may play",
  [grpc.status.FAILED_PRECONDITION]: "mend what it says, then start the bot again",
  [grpc.status.UNIMPLEMENTED]: "check the address: another kind of server answers there",
};

const UNSAFE = /certificate|altnames|wrong version number/i; // in what TLS says of a server that cannot be trusted
const THIS_MACHINE = /^(localhost:|127\.|\[?::1\]?:|unix:)/;

const GOODBYES = {
  GOODBYE_CODE_VERSION: REFUSED,
  GOODBYE_CODE_RULES: REFUSED,
  GOODBYE_CODE_PROTOCOL_ERROR: LOST,
  GOODBYE_CODE_FAILED: FAILED,
};

const definition = protoLoader.loadSync(fileURLToPath(new URL("referee.proto", import.meta.url)), {
  keepCase: true, // names as the protocol has them
  longs: String, // 64 bits do not fit into a number
  enums: String,
  defaults: true,
  oneofs: true, // `message` says which one is set
});
const { Referee } = grpc.loadPackageDefinition(definition).arena.v1;

/**
 * Plays for the arena that the environment names, until it says Goodbye or is lost.
 *
 * @param Bot a class: one object a game, with `choose(request, log)` and perhaps `end(over)`.
 * @returns the exit code.
 */
export async function play(Bot, environment = process.env) {
  const { ARENA_ADDRESS, ARENA_SERVER, ARENA_TOKEN } = environment;
  if (!(ARENA_ADDRESS || ARENA_SERVER) || !ARENA_TOKEN) {
    say("this is a bot: an arena starts it; elsewhere set ARENA_SERVER and ARENA_TOKEN");
    return REFUSED;
  }
  let session;
  try {
    session = new Session(Bot, environment);
  } catch (error) {
    say(`the environment makes no sense: ${error.message} - check ARENA_CA and ARENA_OPTIONS`);
    return REFUSED;
  }
  for (const [signal, number] of [["SIGINT", 2], ["SIGTERM", 15]]) {
    process.on(signal, () => (ARENA_ADDRESS ? process.exit(128 + number) : session.leave()));
  }
  return await keepPlaying(session, ARENA_ADDRESS || ARENA_SERVER, ARENA_ADDRESS ? PATIENCE_MS : REMOTE_PATIENCE_MS);
}

/** One stream after the other; resolves with the exit code. */
async function keepPlaying(session, address, patience) {
  let delay = FIRST_DELAY_MS;
  let lostAt = null; // since when attempts fail
  for (;;) {
    const end = await session.attempt(address);
    if (end.goodbye) {
      const { code, text, retry_after_ms: retry, redirect } = end.goodbye;
      if (retry == null && !redirect) {
        if (code !== "GOODBYE_CODE_DONE") say(`the arena closed the stream: ${text} (${code})`);
        return GOODBYES[code] ?? DONE;
      }
      address = redirect || address;
      await sleep(retry ?? 0);
      continue;
    }
    const { code, details } = end.status;
    if (code in REFUSALS) {
      say(`the arena at ${address} refused this bot: ${details} - ${REFUSALS[code]}`);
      return REFUSED;
    }
    if (!session.options && UNSAFE.test(details)) {
      say(`no safe connection to the arena at ${address}: ${details} - check ARENA_SERVER and ARENA_CA`);
      return REFUSED;
    }
    if (session.hasLeft()) return DONE;
    if (end.welcomed) [delay, lostAt] = [FIRST_DELAY_MS, null];
    if (lostAt === null) say(`no arena at ${address}: ${details} - looking for it for ${patience / 1000} s`);
    lostAt ??= performance.now();
    if (performance.now() - lostAt >= patience) {
      say(`no arena at ${address} for ${patience / 1000} s, giving up: ${details}`);
      return LOST;
    }
    await sleep(delay * (0.5 + Math.random() / 2));
    delay = Math.min(2 * delay, LAST_DELAY_MS);
  }
}

/** How to dial: in plain text on this machine or where that is asked for, else over TLS. */
function wire({ ARENA_ADDRESS, ARENA_SERVER, ARENA_CA, ARENA_INSECURE }) {
  if (ARENA_ADDRESS) return grpc.credentials.createInsecure(); // the arena is on this machine
  if (ARENA_CA) return grpc.credentials.createSsl(readFileSync(ARENA_CA));
  const plain = ARENA_INSECURE || THIS_MACHINE.test(ARENA_SERVER);
  return plain ? grpc.credentials.createInsecure() : grpc.credentials.createSsl();
}

/** The games of this process, over however many streams it takes. */
class Session {
  constructor(Bot, environment) {
    this.Bot = Bot;
    this.games = new Map(); // by handle
    this.wire = wire(environment);
    this.metadata = new grpc.Metadata();
    this.metadata.set("authorization", `Bearer ${environment.ARENA_TOKEN}`);
    this.ownOptions = JSON.parse(environment.ARENA_OPTIONS || "{}"); // of a bot elsewhere: the arena knows none
    this.gamesLeft = Number(environment.ARENA_GAMES || Infinity);
    this.leaving = this.resigning = false;
    this.hello = {
      protocol_min: PROTOCOL,
      protocol_max: PROTOCOL,
      bot: environment.ARENA_BOT ?? "",
      version: environment.ARENA_VERSION ?? "",
      sdk: `node ${process.versions.node}`,
      rules: {}, // no engine
      games_at_once: Number(environment.ARENA_GAMES_AT_ONCE || 1),
      observation_mode: "OBSERVATION_MODE_FULL_WITH_LEGAL_MOVES",
    };
  }

  /** One stream; resolves with how it ended: `{ goodbye }`, or `{ status, welcomed }`. */
  attempt(address) {
    return new Promise((resolve) => {
      const client = new Referee(address, this.wire, CHANNEL_OPTIONS);
      const stream = (this.stream = client.Play(this.metadata));
      let welcomed = false;
      const end = (how) => {
        resolve(how); // the first one counts
        stream.cancel();
        client.close();
      };
      stream.on("data", (response) => {
        if (response.message === "goodbye") return end({ goodbye: response.goodbye });
        welcomed ||= response.message === "welcome";
        this.#handle(stream, response);
      });
      stream.on("error", () => {}); // told by the status, too
      stream.on("status", (status) => end({ status, welcomed }));
      stream.write({ hello: this.hello });
    });
  }

  /** Asks for no more games; the second time it gives up those that run. */
  leave() {
    this.resigning = this.leaving;
    if (!this.resigning) {
      say(`leaving after the games that run (${this.games.size}); once more resigns them`);
      return this.#askToLeave();
    }
    for (const { handle, seat, ply } of this.games.values()) {
      say(`resigning seat ${seat} at ply ${Math.max(ply, 0)}`);
      this.stream.write({ resign: { handle } });
    }
  }

  /** Whether nothing is left to come back to a lost arena for. */
  hasLeft() {
    return this.leaving && (this.resigning || this.games.size === 0);
  }

  #askToLeave() {
    this.leaving = true;
    this.stream.write({ leave: {} });
  }

  #handle(stream, response) {
    switch (response.message) {
      case "welcome":
        this.options = { ...this.ownOptions, ...readOptions(response.welcome.options) };
        if (this.leaving) this.#askToLeave(); // it holds for one stream
        break;
      case "game_started":
        stream.write(this.#start(response.game_started));
        if (this.gamesLeft <= 0 && !this.leaving) this.#askToLeave();
        break;
      case "move_request":
        this.games.get(response.move_request.handle)?.answer(response.move_request)?.then((reply) => stream.write(reply));
        break;
      case "game_over":
        this.games.get(response.game_over.handle)?.end(response.game_over);
        this.games.delete(response.game_over.handle);
        break;
      case "notice":
        say(`the arena: ${response.notice.text}`);
        break;
    }
  }

  /** A game begins; or it goes on over a new stream, with the same bot. */
  #start(started) {
    const { handle } = started;
    try {
      if (!this.games.has(handle)) {
        if (!started.trial) this.gamesLeft -= 1;
        this.games.set(handle, new Game(started, new this.Bot(started, this.options)));
      }
    } catch (error) {
      return failure(handle, 0, error);
    }
    const [oldest] = this.games.keys();
    if (this.games.size > this.hello.games_at_once) this.games.delete(oldest); // it ended while no stream was there
    return { ready: { handle } };
  }
}

/** One game and its bot. */
class Game {
  constructor(started, bot) {
    this.handle = started.handle;
    this.seat = started.seat;
    this.bot = bot;
    this.ply = -1; // the last one that was asked
  }

  /** The promise of a reply: the same one for a request sent again, none for one that is out of date. */
  answer(request) {
    if (request.ply > this.ply) {
      this.ply = request.ply;
      this.reply = this.#think(request);
    }
    return request.ply === this.ply ? this.reply : undefined;
  }

  async #think({ handle, ply, ...request }) {
    const began = performance.now();
    const log = [];
    try {
      const move = String(await this.bot.choose(request, (text) => log.push(String(text))));
      return { move: { handle, ply, move, own_us: Math.round((performance.now() - began) * 1000), log } };
    } catch (error) {
      return failure(handle, ply, error);
    }
  }

  end(over) {
    try {
      this.bot.end?.(over);
    } catch (error) {
      say(error.stack);
    }
  }
}

function failure(handle, ply, error) {
  return { failure: { handle, ply, traceback: String(error?.stack ?? error).slice(0, 16_000) } };
}

function readOptions(options) {
  const read = ([name, option]) => [name, option.value === "integer" ? Number(option.integer) : option[option.value]];
  return Object.fromEntries(Object.entries(options).map(read));
}

function say(line) {
  process.stderr.write(`bot: ${line}\n`);
}
