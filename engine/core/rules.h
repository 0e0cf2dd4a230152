/* The rules as arithmetic on small integers. All facts - shapes, prices, the track - come from Python (see load.c). */

#ifndef ARENA_RULES_H
#define ARENA_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#pragma GCC target("popcnt") /* every such processor since 2008; module.c refuses to load on an older one */
#endif

#define SIDE 9
#define CELLS 81
#define PATCHES 33
#define OFFERED 3
#define LOOKS_OF_PATCH 8
#define MAX_LOOKS (PATCHES * LOOKS_OF_PATCH)
#define MAX_PLACES 8192
#define MAX_PATCH_CELLS 16
#define MAX_SPACES 128
#define MAX_EDITIONS 8
#define MAX_PLIES 256 /* no game has half as many */

#define FIRST_BUY (1 + CELLS)
#define SLOT_ACTIONS (LOOKS_OF_PATCH * CELLS)
#define ACTIONS (FIRST_BUY + OFFERED * SLOT_ACTIONS)

/* A set of cells: bit 9 * row + column. */
typedef unsigned __int128 Board;

#define BIT(cell) ((Board)1 << (cell))
#define FULL (BIT(CELLS) - 1)

/* One look of a patch: an orientation that differs from those with lower numbers. */
typedef struct {
    Board anchors; /* corners at which it lies inside the quilt */
    Board shape;   /* its cells at corner 0 */
    uint8_t patch, number, size, runs;
    uint8_t offsets[MAX_PATCH_CELLS]; /* its cells, ascending */
    uint8_t run[MAX_PATCH_CELLS];     /* straight pieces that make up the look, as indices into Runs; at least three, */
    uint8_t at[MAX_PATCH_CELLS];      /* the first one again where fewer are needed; and where they lie */
} Look;

typedef struct {
    int cost, time, income, size;
    int first_look, looks;
    int first_place, places; /* its placements, by look and corner */
    char letter;
} Patch;

typedef struct {
    Patch patches[PATCHES];
    Look looks[MAX_LOOKS];
    Board places[MAX_PLACES];       /* the cells of each placement */
    uint16_t place_at[MAX_PLACES];  /* its look * CELLS + corner */
    int look_count, place_count, final, editions;
    uint8_t income_passed[MAX_SPACES];
    uint8_t leather_passed[MAX_EDITIONS][MAX_SPACES];
    int bonus_points, first_buttons;
} Rules;

extern Rules rules;

/* A position. The circle is ring[first] .. ring[first + left - 1]: skipped patches are appended, at most two a purchase. */
typedef struct {
    Board quilt[2];
    int32_t buttons[2], income[2];
    uint8_t time[2], empty[2];
    uint8_t mover, due, edition, first, left;
    int8_t bonus;
    uint8_t ring[PATCHES * OFFERED];
} Game;

/* A move in a position: ADVANCE, LEATHER + cell, or BUY + look * CELLS + corner. */
enum { ADVANCE = 0, LEATHER = 1, BUY = FIRST_BUY };

static inline int count(Board board) {
    return __builtin_popcountll((uint64_t)board) + __builtin_popcountll((uint64_t)(board >> 64));
}

static inline int lowest(Board board) {
    uint64_t low = (uint64_t)board;
    return low ? __builtin_ctzll(low) : 64 + __builtin_ctzll((uint64_t)(board >> 64));
}

/* The cell of the n-th bit, counted from 0. */
static inline int nth(Board board, int n) {
    uint64_t word = (uint64_t)board;
    int low = __builtin_popcountll(word), base = 0;
    if (n >= low) {
        n -= low;
        word = (uint64_t)(board >> 64);
        base = 64;
    }
    while (n--)
        word &= word - 1;
    return base + __builtin_ctzll(word);
}

static inline bool has_seven(Board quilt) {
    Board runs = quilt & quilt >> 1;
    runs &= runs >> 2;
    runs &= runs >> 3; /* seven in a row, from here to the right */
    runs &= runs >> SIDE;
    runs &= runs >> 2 * SIDE;
    runs &= runs >> 3 * SIDE;
    return (runs & (Board)(7 | 7 << SIDE | 7 << 2 * SIDE)) != 0;
}

/* board >> n for n below 64, which spares the compiler the other case. */
static inline Board down(Board board, int n) {
    uint64_t low = (uint64_t)board, high = (uint64_t)(board >> 64);
    return (Board)(high >> n) << 64 | low >> n | high << 1 << (63 - n);
}

/* Where straight pieces of 1 .. LONGEST cells lie wholly in a set of cells: first those to the right, then those down.
   A look is two to four of them, so that fewer sets are shifted than it has cells. */
#define LONGEST 5
#define RUNS (2 * LONGEST)
typedef struct {
    Board at[RUNS];
} Runs;

static inline Runs runs_of(Board empty) {
    Runs runs;
    runs.at[0] = runs.at[LONGEST] = empty;
    for (int length = 1; length < LONGEST; length++) {
        runs.at[length] = runs.at[length - 1] & empty >> length;
        runs.at[LONGEST + length] = runs.at[LONGEST + length - 1] & empty >> SIDE * length;
    }
    return runs;
}

/* All corners at which a look covers only empty cells; runs to the right may wrap, but not at a look's anchors. */
static inline Board fits(const Look *look, const Runs *runs) {
    Board found = look->anchors & down(runs->at[look->run[0]], look->at[0]);
    found &= down(runs->at[look->run[1]], look->at[1]);
    found &= down(runs->at[look->run[2]], look->at[2]);
    for (int i = 3; i < look->runs; i++)
        found &= down(runs->at[look->run[i]], look->at[i]);
    return found;
}

static inline bool is_over(const Game *game) {
    return game->time[0] == rules.final && game->time[1] == rules.final;
}

static inline int offered(const Game *game) {
    return game->left < OFFERED ? game->left : OFFERED;
}

static inline int points(const Game *game, int seat) {
    return game->buttons[seat] - 2 * game->empty[seat] + (game->bonus == seat ? rules.bonus_points : 0);
}

/* In a finished game the mover is the seat that arrived last, and the other one wins a tie. */
static inline int winner(const Game *game) {
    int margin = points(game, 0) - points(game, 1);
    return margin ? margin < 0 : !game->mover;
}

/* Whose turn it is, once the mover has gone from space `since` to where it stands. */
static inline void pass_turn(Game *game, int since) {
    int me = game->mover, until = game->time[me], ahead = game->time[1 - me];
    const uint8_t *passed = rules.leather_passed[game->edition];
    game->due = passed[until] > passed[since > ahead ? since : ahead] && game->empty[me];
    if (!game->due && until > ahead)
        game->mover = (uint8_t)(1 - me);
}

static inline void cover(Game *game, Board cells, int size) {
    int me = game->mover;
    game->quilt[me] |= cells;
    game->empty[me] = (uint8_t)(game->empty[me] - size);
    if (game->bonus < 0 && game->empty[me] <= CELLS - 49 && has_seven(game->quilt[me]))
        game->bonus = (int8_t)me;
}

static inline void advance(Game *game) {
    int me = game->mover, since = game->time[me], until = game->time[1 - me] + 1;
    if (until > rules.final)
        until = rules.final;
    game->time[me] = (uint8_t)until;
    game->buttons[me] += until - since + game->income[me] * (rules.income_passed[until] - rules.income_passed[since]);
    pass_turn(game, since);
}

static inline void place_leather(Game *game, int cell) {
    cover(game, BIT(cell), 1);
    pass_turn(game, game->time[game->mover]);
}

static inline void buy(Game *game, int slot, Board cells) {
    uint8_t *circle = game->ring + game->first;
    const Patch *patch = &rules.patches[circle[slot]];
    int me = game->mover, since = game->time[me], until = since + patch->time;
    if (until > rules.final)
        until = rules.final;
    for (int skipped = 0; skipped < slot; skipped++)
        circle[game->left + skipped] = circle[skipped];
    game->first = (uint8_t)(game->first + slot + 1);
    game->left--;
    game->time[me] = (uint8_t)until;
    game->income[me] += patch->income;
    game->buttons[me] +=
        game->income[me] * (rules.income_passed[until] - rules.income_passed[since]) - patch->cost;
    cover(game, cells, patch->size);
    pass_turn(game, since);
}

/* The slot of a patch, -1 where it is not for sale. */
static inline int slot_of(const Game *game, int patch) {
    for (int slot = 0; slot < offered(game); slot++)
        if (game->ring[game->first + slot] == patch)
            return slot;
    return -1;
}

static inline bool affordable(const Game *game, int slot) {
    return rules.patches[game->ring[game->first + slot]].cost <= game->buttons[game->mover];
}

static inline bool is_legal(const Game *game, int move) {
    Board taken = game->quilt[game->mover];
    if (game->due || (move >= LEATHER && move < BUY))
        return game->due && move >= LEATHER && move < BUY && !(taken & BIT(move - LEATHER));
    if (is_over(game) || move == ADVANCE)
        return !is_over(game);
    const Look *look = &rules.looks[(move - BUY) / CELLS];
    int corner = (move - BUY) % CELLS, slot = slot_of(game, look->patch);
    return slot >= 0 && affordable(game, slot) && (look->anchors & BIT(corner)) && !(look->shape << corner & taken);
}

/* Makes a legal move. */
static inline void make(Game *game, int move) {
    if (move >= BUY) {
        const Look *look = &rules.looks[(move - BUY) / CELLS];
        buy(game, slot_of(game, look->patch), look->shape << (move - BUY) % CELLS);
    } else if (move >= LEATHER) {
        place_leather(game, move - LEATHER);
    } else {
        advance(game);
    }
}

/* Moves the circle to the front of the ring: a position from which a whole game may be played. */
static inline void settle(Game *game) {
    memmove(game->ring, game->ring + game->first, game->left);
    game->first = 0;
}

#endif
