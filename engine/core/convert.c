/* Between Python's objects and the core's numbers. */

#include "core.h"

PyObject *refuse(PyObject *error, PyObject *value, const char *why) {
    PyObject *raised = PyObject_CallFunction(error, "Oss", value, "", why);
    if (raised) {
        PyErr_SetObject(error, raised);
        Py_DECREF(raised);
    }
    return NULL;
}

int patch_of(int letter) {
    for (int patch = 0; patch < PATCHES; patch++)
        if (rules.patches[patch].letter == letter)
            return patch;
    return -1;
}

PyObject *move_object(int move) {
    if (move < LEATHER)
        return Py_NewRef(objects.advance);
    if (move < BUY)
        return Py_NewRef(objects.leather[move - LEATHER]);
    int look = (move - BUY) / CELLS;
    return know_patch(rules.looks[look].patch) ? Py_NewRef(objects.buy[look][(move - BUY) % CELLS]) : NULL;
}

/* Fetches the moves of the patch of a move. */
static bool know_patch_of(PyObject *move) {
    Py_ssize_t size = 0;
    PyObject *letter = PyObject_GetAttrString(move, "patch");
    const char *text = letter && PyUnicode_Check(letter) ? PyUnicode_AsUTF8AndSize(letter, &size) : NULL;
    int patch = text && size == 1 ? patch_of(text[0]) : -1;
    Py_XDECREF(letter);
    return patch >= 0 && !objects.known[patch] && know_patch(patch);
}

/* -1 for what is no move on any quilt. */
int move_number(PyObject *move) {
    PyObject *number = PyDict_GetItemWithError(objects.numbers, move);
    if (!number && !PyErr_Occurred() && know_patch_of(move))
        number = PyDict_GetItemWithError(objects.numbers, move);
    PyErr_Clear(); /* of something unhashable or without a patch: the caller refuses it by name */
    return number ? (int)PyLong_AsLong(number) : -1;
}

/* The dense id of a legal move. */
int action_of(const Game *game, int move) {
    if (move < BUY)
        return move;
    const Look *look = &rules.looks[(move - BUY) / CELLS];
    return FIRST_BUY + slot_of(game, look->patch) * SLOT_ACTIONS + look->number * CELLS + (move - BUY) % CELLS;
}

/* The move of a dense id, -1 where there is none: an id out of range, an empty slot, a look with a lower number. */
int move_of(const Game *game, long action) {
    if (action < 0 || action >= ACTIONS)
        return -1;
    if (action < FIRST_BUY)
        return (int)action;
    int slot = (int)(action - FIRST_BUY) / SLOT_ACTIONS, rest = (int)(action - FIRST_BUY) % SLOT_ACTIONS;
    if (slot >= offered(game))
        return -1;
    const Patch *patch = patch_at(game, slot);
    for (int look = patch->first_look; look < patch->first_look + patch->looks; look++)
        if (rules.looks[look].number == rest / CELLS)
            return BUY + look * CELLS + rest % CELLS;
    return -1;
}

/* All legal moves in the order of their ids; the array holds ACTIONS of them. */
int list_moves(const Game *game, uint16_t *moves) {
    int listed = 0;
    if (is_over(game))
        return 0;
    if (game->due) {
        for (Board empty = FULL ^ game->quilt[game->mover]; empty; empty &= empty - 1)
            moves[listed++] = (uint16_t)(LEATHER + lowest(empty));
        return listed;
    }
    Places places;
    count_all(&places, game);
    moves[listed++] = ADVANCE;
    for (int i = 0; i < places.looks; i++)
        for (Board anchors = places.found[i].anchors; anchors; anchors &= anchors - 1)
            moves[listed++] = (uint16_t)(BUY + places.found[i].look * CELLS + lowest(anchors));
    return listed;
}

/* What covers each cell, after a move. */
void write_letters(uint8_t *letters, int move) {
    if (move >= BUY) {
        const Look *look = &rules.looks[(move - BUY) / CELLS];
        int corner = (move - BUY) % CELLS;
        for (int i = 0; i < look->size; i++)
            letters[corner + look->offsets[i]] = (uint8_t)rules.patches[look->patch].letter;
    } else if (move >= LEATHER) {
        letters[move - LEATHER] = '*';
    }
}

bool read_policy(PyObject *name, Policy *policy) {
    *policy = UNIFORM;
    if (!name)
        return true;
    Py_ssize_t index = PySequence_Index(objects.policies, name);
    if (index < 0) {
        PyErr_Clear();
        refuse(objects.game_error, name, "a policy is uniform, slot or first_fit");
        return false;
    }
    *policy = (Policy)index;
    return true;
}

/* Draws one 64-bit seed. */
bool read_seed(PyObject *random, Random *seeded) {
    static PyObject *getrandbits, *bits;
    if (!bits) {
        getrandbits = PyUnicode_InternFromString("getrandbits");
        bits = PyLong_FromLong(64);
    }
    PyObject *seed = PyObject_CallMethodObjArgs(random, getrandbits, bits, NULL);
    if (!seed)
        return false;
    seeded->state = PyLong_AsUnsignedLongLongMask(seed);
    Py_DECREF(seed);
    return !PyErr_Occurred();
}

bool read_count(PyObject *number, const char *what, long most, long *count) {
    PyObject *index = PyNumber_Index(number);
    int overflow = 0;
    long value = index ? PyLong_AsLongAndOverflow(index, &overflow) : -1;
    Py_XDECREF(index);
    if (!index || overflow || value < 0 || value > most) {
        PyErr_Clear();
        refuse(objects.game_error, number, what);
        return false;
    }
    *count = value;
    return true;
}
