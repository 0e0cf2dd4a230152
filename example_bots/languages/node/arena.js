// The arena's protocol (docs/protocol.md) for any bot: dials, says Hello, plays game after game, and comes back to them
// after a lost stream.

import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";

const PROTOCOL = 1;
const PATIENCE_MS = 30_000; // for which a lost arena is looked for
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
  [grpc.status.UNIMPLEMENTED]: "check ARENA_ADDRESS: another kind of server answers there",
};

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
  const { ARENA_ADDRESS, ARENA_TOKEN } = environment;
  if (!ARENA_ADDRESS || !ARENA_TOKEN) {
    say("this is a bot: an arena starts it; elsewhere set ARENA_ADDRESS and ARENA_TOKEN");
    return REFUSED;
  }
  for (const [signal, number] of [["SIGINT", 2], ["SIGTERM", 15]]) process.on(signal, () => process.exit(128 + number));
  const session = new Session(Bot, environment);
  let address = ARENA_ADDRESS;
  let delay = FIRST_DELAY_MS;
  let lostAt = null; // since when attempts fail
  for (;;) {
    const end = await session.attempt(address, ARENA_TOKEN);
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
    if (end.status.code in REFUSALS) {
      say(`the arena at ${address} refused this bot: ${end.status.details} - ${REFUSALS[end.status.code]}`);
      return REFUSED;
    }
    if (end.welcomed) [delay, lostAt] = [FIRST_DELAY_MS, null];
    lostAt ??= performance.now();
    if (performance.now() - lostAt >= PATIENCE_MS) {
      say(`no arena at ${address} for ${PATIENCE_MS / 1000} s, giving up: ${end.status.details}`);
      return LOST;
    }
    await sleep(delay * (0.5 + Math.random() / 2));
    delay = Math.min(2 * delay, LAST_DELAY_MS);
  }
}

/** The games of this process, over however many streams it takes. */
class Session {
  constructor(Bot, environment) {
    this.Bot = Bot;
    this.games = new Map(); // by handle
    this.hello = {
      protocol_min: PROTOCOL,
      protocol_max: PROTOCOL,
      bot: environment.ARENA_BOT ?? "",
      version: environment.ARENA_VERSION ?? "",
      sdk: `node ${process.versions.node}`,
      rules: {}, // no engine
      games_at_once: Number(environment.ARENA_GAMES_AT_ONCE ?? 1),
      observation_mode: "OBSERVATION_MODE_FULL_WITH_LEGAL_MOVES",
    };
  }

  /** One stream; resolves with how it ended: `{ goodbye }`, or `{ status, welcomed }`. */
  attempt(address, token) {
    return new Promise((resolve) => {
      const client = new Referee(address, grpc.credentials.createInsecure(), CHANNEL_OPTIONS);
      const metadata = new grpc.Metadata();
      metadata.set("authorization", `Bearer ${token}`);
      const stream = client.Play(metadata);
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

  #handle(stream, response) {
    switch (response.message) {
      case "welcome":
        this.options = Object.fromEntries(Object.entries(response.welcome.options).map(readOption));
        break;
      case "game_started":
        stream.write(this.#start(response.game_started));
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
      if (!this.games.has(handle)) this.games.set(handle, new Game(started, new this.Bot(started, this.options)));
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

function readOption([name, option]) {
  const value = option[option.value];
  return [name, option.value === "integer" ? Number(value) : value];
}

function say(line) {
  process.stderr.write(`bot: ${line}\n`);
}
