"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const PAGE = 50;
  const byId = (id) => document.getElementById(id);

  const make = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const draw = (name, attributes, text) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const points = (score) => score.map((one) => String(one).replace("-", "−")).join(" : ");
  const bot = (index) => make("bdi", {}, data.bots[index]);
  const letter = (seat) => String.fromCharCode(97 + seat);
  const seatOf = (seat) => seat.charCodeAt(0) - 97;
  const token = (seat) => make("span", { class: `token seat-${seat}` }, seat);
  const game = (number) => data.games.find((one) => one.number === number);

  // The list of games.

  const list = { page: 0, found: data.games };
  const hrefOf = (one) => `${one.page ?? ""}#game-${one.number}`;

  const row = (one) => {
    const winner = one.winner === undefined ? (one.score.length ? "draw" : "–") : one.winner;
    const blame = one.blamed ? ` (${[...one.blamed].join(", ")})` : "";
    return make(
      "tr", {},
      make("td", { class: "number" }, make("a", { href: hrefOf(one), "aria-label": `replay game ${one.number}` }, String(one.number))),
      ...one.seats.map((index) => make("td", {}, bot(index))),
      make("td", { class: "number" }, points(one.score) || "–"),
      make("td", {}, winner),
      make("td", { class: one.ending === "normal" ? "ended" : "ended bad" }, one.ending + blame),
    );
  };

  const showList = () => {
    const pages = Math.max(1, Math.ceil(list.found.length / PAGE));
    list.page = Math.min(Math.max(list.page, 0), pages - 1);
    const start = list.page * PAGE;
    const shown = list.found.slice(start, start + PAGE);
    byId("list").replaceChildren(...shown.map(row));
    byId("found").textContent = shown.length
      ? `${start + 1}–${start + shown.length} of ${list.found.length}` : "no such game";
    byId("back").disabled = list.page === 0;
    byId("forth").disabled = list.page === pages - 1;
    byId("pager").hidden = pages === 1;
  };

  const filter = () => {
    const who = byId("of-bot").value;
    const ending = byId("of-ending").value;
    list.found = data.games.filter(
      (one) => (!who || one.seats.includes(Number(who))) && (!ending || one.ending === ending),
    );
    list.page = 0;
    showList();
  };

  const startList = () => {
    data.bots.forEach((name, index) => byId("of-bot").append(make("option", { value: index }, name)));
    const endings = [...new Set(data.games.map((one) => one.ending))].sort();
    endings.forEach((ending) => byId("of-ending").append(make("option", { value: ending }, ending)));
    byId("filters").addEventListener("change", filter);
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    byId("back").addEventListener("click", () => { list.page -= 1; showList(); });
    byId("forth").addEventListener("click", () => { list.page += 1; showList(); });
    showList();
  };

  // Boards.

  const edges = (board, differ) => {
    const height = board.cells.length / board.width;
    const at = (x, y) => (x < 0 || y < 0 || x >= board.width || y >= height ? " " : board.cells[y * board.width + x]);
    let path = "";
    for (let y = 0; y <= height; y += 1) {
      for (let x = 0; x <= board.width; x += 1) {
        if (differ(at(x, y), at(x, y - 1))) path += `M${x} ${y}h1`;
        if (differ(at(x, y), at(x - 1, y))) path += `M${x} ${y}v1`;
      }
    }
    return path;
  };
  const joined = (symbol) => data.looks[symbol] && data.looks[symbol][1];
  const outer = (one, other) => one !== other || (one !== " " && one !== "." && !joined(one));
  const inner = (one, other) => one === other && joined(one);

  const cellsOf = (board, svg) => {
    const named = new Set();
    const letters = [];
    [...board.cells].forEach((symbol, index) => {
      if (symbol === " ") return;
      const [x, y] = [index % board.width, Math.floor(index / board.width)];
      const look = data.looks[symbol];
      const paint = look ? { fill: look[0] } : { class: "empty" };
      svg.append(draw("rect", { x, y, width: 1, height: 1, ...paint }));
      if (!look || named.has(symbol)) return;
      if (look[1]) named.add(symbol);
      letters.push(draw("text", { class: "letter", x: x + 0.5, y: y + 0.68 }, symbol));
    });
    return letters;
  };

  const freshOf = (board, before) => {
    if (!before || before.width !== board.width || !board.seat) return "";
    const fresh = [...board.cells].map((symbol, index) => (symbol !== before.cells[index] ? "#" : " ")).join("");
    return edges({ cells: fresh, width: board.width }, (one, other) => one !== other);
  };

  const axesOf = (board, height, svg) => {
    [...(board.columns ?? "")].forEach((name, x) => svg.append(draw("text", { class: "axis", x: x + 0.5, y: -0.2 }, name)));
    [...(board.rows ?? "")].slice(0, height).forEach((name, y) => svg.append(draw("text", { class: "axis", x: -0.35, y: y + 0.65 }, name)));
  };

  const marksOf = (board, svg) => {
    for (const [cell, text] of board.marks ?? []) {
      const [x, y] = [cell % board.width + 0.5, Math.floor(cell / board.width) + 0.5];
      [...text].forEach((seat, index) => {
        const shift = (index - (text.length - 1) / 2) * 0.42;
        svg.append(draw("circle", { class: `seat-${seat}`, cx: x + shift, cy: y, r: text.length > 1 ? 0.3 : 0.4 }));
        svg.append(draw("text", { class: "mark", x: x + shift, y: y + 0.2 }, seat));
      });
    }
  };

  const boardSvg = (board, before) => {
    const height = board.cells.length / board.width;
    const left = board.rows ? 0.7 : 0.1;
    const top = board.columns ? 0.7 : 0.1;
    const [across, down] = [board.width + left + 0.1, height + top + 0.1];
    const size = 40 * (board.scale ?? 1);
    const svg = draw("svg", {
      viewBox: `${-left} ${-top} ${across} ${down}`, width: across * size, height: down * size, role: "img",
      "aria-label": [board.seat && `seat ${board.seat}`, board.title, board.note].filter(Boolean).join(", "),
    });
    const letters = cellsOf(board, svg);
    svg.append(draw("path", { class: "stitch", d: edges(board, inner) }), draw("path", { class: "outline", d: edges(board, outer) }));
    const fresh = freshOf(board, before);
    if (fresh) svg.append(draw("path", { class: "fresh", d: fresh }));
    svg.append(...letters);
    axesOf(board, height, svg);
    marksOf(board, svg);
    return svg;
  };

  const caption = (board, one) => {
    const told = make("figcaption");
    if (board.seat) told.append(token(board.seat), " ", make("b", {}, bot(one.seats[seatOf(board.seat)])));
    if (board.title) told.append(board.seat ? ` · ${board.title}` : make("b", {}, board.title));
    if (board.note) told.append(make("span", { class: "note" }, board.note));
    return told;
  };

  const figure = (board, before, one) => {
    const node = make("figure", board.seat ? { class: "large" } : {}, caption(board, one));
    if (board.cells) node.append(boardSvg(board, before));
    return node;
  };

  // The player.

  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text), (symbol) => symbol.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };

  const player = { game: null, replay: null, at: 0, timer: 0 };

  const movesOf = (step) => step.moves.map(([seat, move, seconds]) => make(
    "span", { class: "move" }, token(seat), make("span", {}, ` ${move} `), make("span", { class: "time" }, `${seconds.toFixed(3)} s `),
  ));

  const showPosition = () => {
    const { game: one, replay, at } = player;
    const step = replay.steps[at];
    const before = at ? replay.steps[at - 1].at : null;
    const last = replay.steps.length - 1;
    byId("told").replaceChildren(`ply ${at} of ${last} `, ...(at ? movesOf(step) : ["the deal"]));
    byId("slider").value = at;
    byId("slider").setAttribute("aria-valuetext", `ply ${at} of ${last}`);
    if (typeof step.at === "string") {
      byId("boards").replaceChildren(make("pre", {}, step.at));
    } else {
      const boardAt = (rows, y, x) => rows && rows[y] && replay.boards[rows[y][x]];
      const rows = step.at.map((row, y) =>
        make("div", { class: "row" }, ...row.map((index, x) => figure(replay.boards[index], boardAt(before, y, x), one))));
      byId("boards").replaceChildren(...rows);
    }
    for (const button of byId("moves").querySelectorAll("[aria-current]")) button.removeAttribute("aria-current");
    const current = byId("moves").children[at].firstChild;
    current.setAttribute("aria-current", "step");
    byId("moves").scrollTop = current.offsetTop - byId("moves").clientHeight / 2;
    byId("first").disabled = byId("previous").disabled = at === 0;
    byId("next").disabled = byId("last").disabled = at === last;
  };

  const goTo = (at) => {
    const last = player.replay.steps.length - 1;
    player.at = Math.min(Math.max(at, 0), last);
    history.replaceState(null, "", `#game-${player.game.number}/${player.at}`);
    showPosition();
    if (player.at === last) stop();
  };
  const stop = () => {
    clearInterval(player.timer);
    player.timer = 0;
    byId("play").setAttribute("aria-pressed", "false");
    byId("play").textContent = "▶ play";
  };
  const toggle = () => {
    if (player.timer) { stop(); return; }
    if (player.at === player.replay.steps.length - 1) goTo(0);
    player.timer = setInterval(() => goTo(player.at + 1), 700);
    byId("play").setAttribute("aria-pressed", "true");
    byId("play").textContent = "❚❚ pause";
  };

  const told = (one) => {
    const result = one.winner === undefined ? (one.score.length ? "draw" : "no result") : `${one.winner} wins`;
    const why = one.ending === "normal" ? "" : `; ${one.ending}${one.blamed ? ` by ${[...one.blamed].join(", ")}` : ""}`;
    const reason = one.reason ? `: ${one.reason}` : "";
    const reply = one.reply ? `; the reply was ${one.reply}` : "";
    return `${result}${one.score.length ? `, ${points(one.score)}` : ""}${why}${reason}${reply}`;
  };

  const open = async (number, at) => {
    const one = game(number);
    const packed = data.replays[number];
    if (!one || !packed) { close(); return; }
    if (player.game !== one) {
      stop();
      const replay = await unpack(packed);
      Object.assign(player, { game: one, replay });
      const versus = one.seats.flatMap((index, seat) => [seat ? " " : "", token(letter(seat)), " ", bot(index)]);
      byId("player-title").replaceChildren(`Game ${number} `, ...versus);
      byId("player-ending").textContent = [told(one), replay.trouble].filter(Boolean).join(" · ");
      byId("slider").max = replay.steps.length - 1;
      byId("moves").replaceChildren(...replay.steps.map((step, ply) => {
        const words = ply ? movesOf(step) : ["the deal"];
        const button = make("button", { type: "button" }, make("span", { class: "ply" }, String(ply)), make("span", { class: "all" }, ...words));
        button.addEventListener("click", () => goTo(ply));
        return make("li", {}, button);
      }));
      byId("player").hidden = false;
      byId("player-title").focus({ preventScroll: true });
      byId("player").scrollIntoView();
    }
    player.at = Math.min(Math.max(at, 0), player.replay.steps.length - 1);
    showPosition();
  };
  const close = () => {
    stop();
    player.game = null;
    byId("player").hidden = true;
  };

  const route = () => {
    const match = /^#game-(\d+)(?:\/(\d+))?$/.exec(location.hash);
    if (match) open(Number(match[1]), Number(match[2] ?? 0));
    else if (byId("list")) close();
  };

  const KEYS = {
    ArrowLeft: () => goTo(player.at - 1),
    ArrowRight: () => goTo(player.at + 1),
    Home: () => goTo(0),
    End: () => goTo(Infinity),
    " ": toggle,
  };
  document.addEventListener("keydown", (event) => {
    const busy = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || (event.key === " " && event.target.tagName === "BUTTON");
    const table = event.target.classList && event.target.classList.contains("wide");
    if (!player.game || busy || table || event.altKey || event.ctrlKey || event.metaKey || !(event.key in KEYS)) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  byId("first").addEventListener("click", () => goTo(0));
  byId("previous").addEventListener("click", () => goTo(player.at - 1));
  byId("play").addEventListener("click", toggle);
  byId("next").addEventListener("click", () => goTo(player.at + 1));
  byId("last").addEventListener("click", () => goTo(Infinity));
  byId("slider").addEventListener("input", () => goTo(Number(byId("slider").value)));
  addEventListener("hashchange", route);

  if (byId("list")) startList();
  if (!byId("list") && !location.hash) open(data.games[0].number, 0);
  else route();
})();
