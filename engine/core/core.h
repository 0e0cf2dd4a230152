/* What the parts of the extension share. Board arithmetic is in rules.h, random play in playout.h. */

#ifndef ARENA_CORE_H
#define ARENA_CORE_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>
#include <stddef.h>

#include "playout.h"

/* The Python objects that the core hands out or raises, from core.py. */
typedef struct {
    PyObject *advance, *leather[CELLS];
    PyObject *placements;                /* gives a patch's moves by look and corner */
    PyObject *buy[MAX_LOOKS][CELLS];     /* those it was asked for, NULL outside the quilt */
    PyObject *numbers;                   /* the number, as in rules.h, of each move known */
    bool known[PATCHES];
    PyObject *editions, *player, *tally;
    PyObject *game_error, *position_error;
    PyObject *seats[2], *policies;
    bool loaded;
} Objects;

extern Objects objects;

/* A position as Python sees it. */
typedef struct {
    PyObject_HEAD
    Game game;
    uint8_t letters[2][CELLS]; /* what covers each cell: a patch's letter, '*', or 0 */
    PyObject *players[2];      /* made when asked for */
} Kernel;

extern PyTypeObject *kernel_type;

Kernel *new_kernel(PyTypeObject *type);
PyObject *load(PyObject *module, PyObject *arguments);
int add_kernel(PyObject *module);
int add_tree(PyObject *module);
int add_games(PyObject *module);

/* Raises one of game.py's errors: (value, position, why). */
PyObject *refuse(PyObject *error, PyObject *value, const char *why);
bool know_patch(int patch);
int patch_of(int letter);
PyObject *move_object(int move);
int move_number(PyObject *move);
int action_of(const Game *game, int move);
int move_of(const Game *game, long action);
int list_moves(const Game *game, uint16_t *moves);
void write_mask(const Game *game, uint8_t *mask);
void write_letters(uint8_t *letters, int move);
bool read_policy(PyObject *name, Policy *policy);
bool read_seed(PyObject *random, Random *seeded);
bool read_count(PyObject *number, const char *what, long most, long *count);

#endif
