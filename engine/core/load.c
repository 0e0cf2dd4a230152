/* The facts of the game, handed over once by core.py: the core holds none of its own. */

#include "core.h"

Rules rules;
Objects objects;

static bool read_board(PyObject *number, Board *board) {
    unsigned char bytes[16];
    PyObject *text = PyObject_CallMethod(number, "to_bytes", "is", 16, "little");
    char *start;
    Py_ssize_t size;
    if (!text || PyBytes_AsStringAndSize(text, &start, &size) < 0) {
        Py_XDECREF(text);
        return false;
    }
    memcpy(bytes, start, sizeof bytes);
    Py_DECREF(text);
    *board = 0;
    for (int i = 15; i >= 0; i--)
        *board = *board << 8 | bytes[i];
    return true;
}

static bool read_bytes(PyObject *bytes, uint8_t *into, Py_ssize_t least, Py_ssize_t most, Py_ssize_t *size) {
    char *start;
    if (PyBytes_AsStringAndSize(bytes, &start, size) < 0)
        return false;
    if (*size < least || *size > most) {
        PyErr_SetString(PyExc_ValueError, "a table of the rules has the wrong length");
        return false;
    }
    memcpy(into, start, (size_t)*size);
    return true;
}

static Board straight(int run) {
    Board cells = 0;
    for (int i = 0; i <= run % LONGEST; i++)
        cells |= BIT(i * (run < LONGEST ? 1 : SIDE));
    return cells;
}

/* Takes the straight piece that covers most of what is left, until nothing is left. */
static bool cut_into_runs(Look *look) {
    Board left = look->shape;
    for (look->runs = 0; left; look->runs++) {
        int most = 0;
        for (int run = 0; run < RUNS; run++)
            for (int at = 0; at < 64 && at + (run % LONGEST) * (run < LONGEST ? 1 : SIDE) < CELLS; at++) {
                Board cells = straight(run) << at;
                if ((cells & look->shape) == cells && count(cells & left) > most) {
                    most = count(cells & left);
                    look->run[look->runs] = (uint8_t)run;
                    look->at[look->runs] = (uint8_t)at;
                }
            }
        if (!most)
            return false; /* a cell in the last two rows of so big a look */
        left &= ~(straight(look->run[look->runs]) << look->at[look->runs]);
    }
    for (int i = look->runs; i < 3; i++) {
        look->run[i] = look->run[0];
        look->at[i] = look->at[0];
    }
    return true;
}

static bool number_move(PyObject *move, int number) {
    PyObject *value = PyLong_FromLong(number);
    bool done = value && PyDict_SetItem(objects.numbers, move, value) == 0;
    Py_XDECREF(value);
    return done;
}

static bool load_places(const Look *look) {
    int index = (int)(look - rules.looks);
    for (int corner = 0; corner < CELLS; corner++) {
        if (!(look->anchors & BIT(corner)))
            continue;
        if (rules.place_count == MAX_PLACES) {
            PyErr_SetString(PyExc_ValueError, "too many placements");
            return false;
        }
        rules.places[rules.place_count] = look->shape << corner;
        rules.place_at[rules.place_count++] = (uint16_t)(index * CELLS + corner);
    }
    return true;
}

/* ((orientation, moves by corner), ...) */
static bool know_looks(const Patch *patch, PyObject *looks) {
    if (!PyTuple_Check(looks) || PyTuple_Size(looks) != patch->looks)
        return false;
    for (int i = 0; i < patch->looks; i++) {
        int index = patch->first_look + i;
        PyObject *pair = PyTuple_GetItem(looks, i), *moves = PyTuple_Check(pair) ? PyTuple_GetItem(pair, 1) : NULL;
        if (!moves || !PyTuple_Check(moves) || PyTuple_Size(moves) != CELLS)
            return false;
        for (int corner = 0; corner < CELLS; corner++)
            if (rules.looks[index].anchors & BIT(corner) && !objects.buy[index][corner]) {
                objects.buy[index][corner] = Py_NewRef(PyTuple_GetItem(moves, corner));
                if (!number_move(objects.buy[index][corner], BUY + index * CELLS + corner))
                    return false;
            }
    }
    return true;
}

/* Fetches the moves of a patch, once. */
bool know_patch(int patch) {
    if (objects.known[patch])
        return true;
    PyObject *looks = PyObject_CallFunction(objects.placements, "C", rules.patches[patch].letter);
    objects.known[patch] = looks && know_looks(&rules.patches[patch], looks);
    Py_XDECREF(looks);
    if (!objects.known[patch] && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "the moves of a patch are wrong");
    return objects.known[patch];
}

/* (number, offsets, anchors) */
static bool load_look(PyObject *fact, int patch) {
    PyObject *offsets, *anchors;
    int number;
    Py_ssize_t size;
    if (rules.look_count == MAX_LOOKS) {
        PyErr_SetString(PyExc_ValueError, "too many looks");
        return false;
    }
    Look *look = &rules.looks[rules.look_count];
    if (!PyArg_ParseTuple(fact, "iOO", &number, &offsets, &anchors) || !read_board(anchors, &look->anchors)
        || !read_bytes(offsets, look->offsets, 1, MAX_PATCH_CELLS, &size))
        return false;
    look->patch = (uint8_t)patch;
    look->number = (uint8_t)number;
    look->size = (uint8_t)size;
    look->shape = 0;
    for (int i = 0; i < look->size; i++)
        if (look->offsets[i] < CELLS)
            look->shape |= BIT(look->offsets[i]);
    if (number < 0 || number >= LOOKS_OF_PATCH || count(look->shape) != look->size || look->anchors & ~FULL
        || !cut_into_runs(look)) {
        PyErr_SetString(PyExc_ValueError, "a look's number, offsets or anchors are wrong");
        return false;
    }
    rules.look_count++;
    return load_places(look);
}

/* (letter, cost, time, income, looks) */
static bool load_patch(PyObject *fact, int index) {
    Patch *patch = &rules.patches[index];
    PyObject *looks;
    int letter;
    if (!PyArg_ParseTuple(fact, "CiiiO", &letter, &patch->cost, &patch->time, &patch->income, &looks))
        return false;
    patch->letter = (char)letter;
    patch->first_look = rules.look_count;
    patch->first_place = rules.place_count;
    for (Py_ssize_t i = 0; i < PyTuple_Size(looks); i++)
        if (!load_look(PyTuple_GetItem(looks, i), index))
            return false;
    patch->looks = rules.look_count - patch->first_look;
    patch->places = rules.place_count - patch->first_place;
    if (patch->looks < 1 || patch->looks > LOOKS_OF_PATCH || patch->places < 1) {
        PyErr_SetString(PyExc_ValueError, "a patch has 1 to 8 looks");
        return false;
    }
    patch->size = rules.looks[patch->first_look].size;
    return true;
}

/* (bonus points, first buttons, income passed, leather passed by edition) */
static bool load_track(PyObject *facts) {
    PyObject *income, *leather;
    Py_ssize_t spaces, same;
    if (!PyArg_ParseTuple(facts, "iiOO!", &rules.bonus_points, &rules.first_buttons, &income, &PyTuple_Type, &leather)
        || !read_bytes(income, rules.income_passed, 2, MAX_SPACES, &spaces))
        return false;
    rules.final = (int)spaces - 1;
    rules.editions = (int)PyTuple_Size(leather);
    if (rules.editions > MAX_EDITIONS) {
        PyErr_SetString(PyExc_ValueError, "too many editions");
        return false;
    }
    for (int i = 0; i < rules.editions; i++)
        if (!read_bytes(PyTuple_GetItem(leather, i), rules.leather_passed[i], spaces, spaces, &same))
            return false;
    return true;
}

static bool load_moves(PyObject *advance, PyObject *leather) {
    objects.advance = Py_NewRef(advance);
    if (PyTuple_Size(leather) != CELLS || !number_move(advance, ADVANCE))
        return false;
    for (int cell = 0; cell < CELLS; cell++) {
        objects.leather[cell] = Py_NewRef(PyTuple_GetItem(leather, cell));
        if (!number_move(objects.leather[cell], LEATHER + cell))
            return false;
    }
    return true;
}

PyObject *load(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *patches, *track, *advance, *leather, *placements, *editions, *policies, *player, *tally, *game_error, *position_error;
    if (!PyArg_ParseTuple(arguments, "O!OOO!OO!O!OOOO", &PyTuple_Type, &patches, &track, &advance, &PyTuple_Type, &leather,
                          &placements, &PyTuple_Type, &editions, &PyTuple_Type, &policies, &player, &tally, &game_error,
                          &position_error))
        return NULL;
    if (objects.numbers) {
        PyErr_SetString(PyExc_RuntimeError, "the rules are loaded already");
        return NULL;
    }
    if (PyTuple_Size(patches) != PATCHES || PyTuple_Size(policies) != POLICIES) {
        PyErr_SetString(PyExc_ValueError, "the core plays with 33 patches and three policies");
        return NULL;
    }
    objects.numbers = PyDict_New();
    objects.placements = Py_NewRef(placements);
    objects.editions = Py_NewRef(editions);
    objects.policies = Py_NewRef(policies);
    objects.player = Py_NewRef(player);
    objects.tally = Py_NewRef(tally);
    objects.game_error = Py_NewRef(game_error);
    objects.position_error = Py_NewRef(position_error);
    objects.seats[0] = PyUnicode_InternFromString("a");
    objects.seats[1] = PyUnicode_InternFromString("b");
    if (!objects.numbers || !load_moves(advance, leather) || !load_track(track))
        return NULL;
    if (PyTuple_Size(editions) != rules.editions) {
        PyErr_SetString(PyExc_ValueError, "each edition needs its leather");
        return NULL;
    }
    for (int i = 0; i < PATCHES; i++)
        if (!load_patch(PyTuple_GetItem(patches, i), i))
            return NULL;
    objects.loaded = true;
    Py_RETURN_NONE;
}
