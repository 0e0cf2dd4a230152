/* Random moves. Every draw is documented here, since kernel.py makes the same ones: a seed gives one game everywhere. */

#ifndef ARENA_PLAYOUT_H
#define ARENA_PLAYOUT_H

#include "rules.h"

/* splitmix64. */
typedef struct {
    uint64_t state;
} Random;

static inline uint64_t draw(Random *random) {
    uint64_t mixed = random->state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

/* Uniform in 0 .. n - 1: the upper half of draw * n, where the few draws that would favour some results are repeated. */
static inline uint32_t below(Random *random, uint32_t n) {
    uint64_t product = (draw(random) >> 32) * n;
    if ((uint32_t)product < n) {
        uint32_t unfair = -n % n;
        while ((uint32_t)product < unfair)
            product = (draw(random) >> 32) * n;
    }
    return (uint32_t)(product >> 32);
}

/* In a roomy quilt a placement is guessed, and guessed again while it does not fit; after TRIES guesses, and in a crowded
   quilt, the fitting ones are counted and one is drawn. Both are exactly uniform; these numbers were quickest. */
#define TRIES 4
#define ROOMY 40

typedef enum { UNIFORM, SLOT_FIRST, FIRST_FIT, POLICIES } Policy;

typedef struct {
    int move, slot;
    Board cells;
} Choice;

static const Choice advance_choice = {ADVANCE, -1, 0};

static inline Choice leather_choice(int cell) {
    return (Choice){LEATHER + cell, -1, BIT(cell)};
}

static inline Choice place_choice(int slot, int place) {
    return (Choice){BUY + rules.place_at[place], slot, rules.places[place]};
}

static inline Choice corner_choice(int slot, int look, int corner) {
    return (Choice){BUY + look * CELLS + corner, slot, rules.looks[look].shape << corner};
}

static inline const Patch *patch_at(const Game *game, int slot) {
    return &rules.patches[game->ring[game->first + slot]];
}

/* The slots that the mover can pay for, and how many they are. */
static inline int payable(const Game *game, int slots[OFFERED]) {
    int found = 0;
    for (int slot = 0; slot < offered(game); slot++)
        if (affordable(game, slot))
            slots[found++] = slot;
    return found;
}

/* The fitting placements of some patches, by slot, look and corner. */
typedef struct {
    int total, looks;
    struct {
        Board anchors;
        int until, look, slot;
    } found[OFFERED * LOOKS_OF_PATCH];
} Places;

static inline void count_places(Places *places, const Runs *runs, const Patch *patch, int slot) {
    for (int look = patch->first_look; look < patch->first_look + patch->looks; look++) {
        Board anchors = fits(&rules.looks[look], runs);
        places->total += count(anchors);
        places->found[places->looks].anchors = anchors;
        places->found[places->looks].until = places->total;
        places->found[places->looks].look = look;
        places->found[places->looks].slot = slot;
        places->looks += anchors != 0;
    }
}

static inline void count_all(Places *places, const Game *game) {
    int slots[OFFERED], options = payable(game, slots);
    Runs runs = runs_of(FULL ^ game->quilt[game->mover]);
    places->total = places->looks = 0;
    for (int i = 0; i < options; i++)
        count_places(places, &runs, patch_at(game, slots[i]), slots[i]);
}

static inline Choice nth_place(const Places *places, int n) {
    int i = 0;
    while (n >= places->found[i].until)
        i++;
    int corner = nth(places->found[i].anchors, n - (i ? places->found[i - 1].until : 0));
    return corner_choice(places->found[i].slot, places->found[i].look, corner);
}

/* Each legal move as likely as the others. */
static inline Choice uniform_choice(const Game *game, Random *random) {
    int slots[OFFERED], options = payable(game, slots);
    if (!options)
        return advance_choice;
    if (game->empty[game->mover] > ROOMY) {
        uint32_t all = 1;
        for (int i = 0; i < options; i++)
            all += (uint32_t)patch_at(game, slots[i])->places;
        for (int try = 0; try < TRIES; try++) {
            int guess = (int)below(random, all) - 1, i = 0;
            if (guess < 0)
                return advance_choice;
            while (guess >= patch_at(game, slots[i])->places)
                guess -= patch_at(game, slots[i++])->places;
            int place = patch_at(game, slots[i])->first_place + guess;
            if (!(rules.places[place] & game->quilt[game->mover]))
                return place_choice(slots[i], place);
        }
    }
    Places places;
    count_all(&places, game);
    int n = places.total ? (int)below(random, (uint32_t)places.total + 1) : 0;
    return n ? nth_place(&places, n - 1) : advance_choice;
}

static inline bool placed(const Game *game, int slot, const Runs *runs, Random *random, Choice *choice) {
    const Patch *patch = patch_at(game, slot);
    if (game->empty[game->mover] > ROOMY)
        for (int try = 0; try < TRIES; try++) {
            int place = patch->first_place + (int)below(random, (uint32_t)patch->places);
            if (!(rules.places[place] & game->quilt[game->mover])) {
                *choice = place_choice(slot, place);
                return true;
            }
        }
    Places places;
    places.total = places.looks = 0;
    count_places(&places, runs, patch, slot);
    if (places.total)
        *choice = nth_place(&places, (int)below(random, (uint32_t)places.total));
    return places.total > 0;
}

static inline bool placed_first(const Game *game, int slot, const Runs *runs, Choice *choice) {
    const Patch *patch = patch_at(game, slot);
    int best = CELLS;
    for (int look = patch->first_look; look < patch->first_look + patch->looks; look++) {
        Board anchors = fits(&rules.looks[look], runs);
        if (anchors && lowest(anchors) < best) {
            best = lowest(anchors);
            *choice = corner_choice(slot, look, best);
        }
    }
    return best < CELLS;
}

/* SLOT_FIRST: one of the advance and the patches that can be paid, then one of its placements.
   FIRST_FIT: one of the patches that can be paid, where it lies nearest to the top, then to the left.
   A patch that fits nowhere is left out and the draw repeated. */
static inline Choice patch_choice(const Game *game, Policy policy, Random *random) {
    int slots[OFFERED], options = payable(game, slots), advance = policy == SLOT_FIRST;
    if (!options)
        return advance_choice;
    Runs runs = runs_of(FULL ^ game->quilt[game->mover]);
    while (options) {
        int n = (int)below(random, (uint32_t)(options + advance)) - advance;
        if (n < 0)
            return advance_choice;
        Choice choice;
        if (policy == SLOT_FIRST ? placed(game, slots[n], &runs, random, &choice)
                                 : placed_first(game, slots[n], &runs, &choice))
            return choice;
        for (options--; n < options; n++)
            slots[n] = slots[n + 1];
    }
    return advance_choice;
}

static inline Choice choose(const Game *game, Policy policy, Random *random) {
    if (game->due) {
        Board empty = FULL ^ game->quilt[game->mover];
        int n = policy == FIRST_FIT ? 0 : (int)below(random, game->empty[game->mover]);
        return leather_choice(nth(empty, n));
    }
    return policy == UNIFORM ? uniform_choice(game, random) : patch_choice(game, policy, random);
}

static inline void make_choice(Game *game, Choice choice) {
    if (choice.slot >= 0)
        buy(game, choice.slot, choice.cells);
    else if (choice.move)
        place_leather(game, choice.move - LEATHER);
    else
        advance(game);
}

/* Plays to the end. */
static inline void play_out(Game *game, Policy policy, Random *random) {
    while (!is_over(game))
        make_choice(game, choose(game, policy, random));
}

#endif
