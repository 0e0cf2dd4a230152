/* Many games at once, written straight into a learner's arrays: vector.py says what they hold. */

#include "core.h"
#include <stdlib.h>

#define CIRCLE_ENTRY 5
#define PLAYER_ENTRY 5
#define OBSERVATION (5 * CELLS + PATCHES * CIRCLE_ENTRY + 2 * PLAYER_ENTRY + 3)

typedef struct {
    Game game;
    uint8_t letters[2][CELLS];
} Table;

typedef struct {
    PyObject_HEAD
    Table *tables;
    long count;
    int edition, by_margin;
    Random random;
    bool busy; /* another thread is in step() */
} Games;

static Games *games_of(PyObject *self) {
    return (Games *)self;
}

/* A byte for each cell. */
static void spread(Board board, uint8_t *bytes) {
    static const uint8_t nibble[16][4] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 0}, {1, 0, 1, 0},
                                          {0, 1, 1, 0}, {1, 1, 1, 0}, {0, 0, 0, 1}, {1, 0, 0, 1}, {0, 1, 0, 1}, {1, 1, 0, 1},
                                          {0, 0, 1, 1}, {1, 0, 1, 1}, {0, 1, 1, 1}, {1, 1, 1, 1}};
    for (int cell = 0; cell < CELLS - 1; cell += 4)
        memcpy(bytes + cell, nibble[(int)(board >> cell) & 15], 4);
    bytes[CELLS - 1] = (uint8_t)(board >> (CELLS - 1));
}

void write_mask(const Game *game, uint8_t *mask) {
    memset(mask, 0, ACTIONS);
    if (is_over(game))
        return;
    if (game->due) {
        spread(FULL ^ game->quilt[game->mover], mask + LEATHER);
        return;
    }
    Places places;
    count_all(&places, game);
    mask[ADVANCE] = 1;
    for (int i = 0; i < places.looks; i++)
        spread(places.found[i].anchors, mask + FIRST_BUY + places.found[i].slot * SLOT_ACTIONS
                                            + rules.looks[places.found[i].look].number * CELLS);
}

/* The row of observation.py, from the mover's side. */
static void write_observation(const Game *game, uint8_t *row) {
    int me = game->mover;
    memset(row, 0, OBSERVATION);
    for (int side = 0; side < 2; side++, row += CELLS)
        spread(game->quilt[side ? 1 - me : me], row);
    for (int slot = 0; slot < offered(game); slot++)
        spread(rules.looks[patch_at(game, slot)->first_look].shape, row + slot * CELLS);
    row += OFFERED * CELLS;
    for (int i = 0; i < game->left; i++) {
        const Patch *patch = patch_at(game, i);
        uint8_t *entry = row + i * CIRCLE_ENTRY;
        entry[0] = (uint8_t)(patch - rules.patches + 1);
        entry[1] = (uint8_t)patch->cost;
        entry[2] = (uint8_t)patch->time;
        entry[3] = (uint8_t)patch->income;
        entry[4] = (uint8_t)patch->size;
    }
    row += PATCHES * CIRCLE_ENTRY;
    for (int side = 0; side < 2; side++, row += PLAYER_ENTRY) {
        int seat = side ? 1 - me : me;
        row[0] = (uint8_t)(game->buttons[seat] > 255 ? 255 : game->buttons[seat]);
        row[1] = game->time[seat];
        row[2] = (uint8_t)game->income[seat];
        row[3] = game->empty[seat];
        row[4] = game->bonus == seat;
    }
    row[0] = !is_over(game);
    row[1] = game->due;
    row[2] = game->edition != 0;
}

/* A new game. The circle is a Fisher-Yates shuffle, from its end, of all patches but the first, which comes last. */
static void deal(Games *games, Table *table) {
    memset(table, 0, sizeof *table);
    Game *game = &table->game;
    for (int i = 0; i < PATCHES; i++)
        game->ring[i] = (uint8_t)((i + 1) % PATCHES);
    for (int i = PATCHES - 2; i > 0; i--) {
        int other = (int)below(&games->random, (uint32_t)i + 1);
        uint8_t patch = game->ring[i];
        game->ring[i] = game->ring[other];
        game->ring[other] = patch;
    }
    game->left = PATCHES;
    game->edition = (uint8_t)games->edition;
    game->bonus = -1;
    for (int seat = 0; seat < 2; seat++) {
        game->buttons[seat] = rules.first_buttons;
        game->empty[seat] = CELLS;
    }
}

/* A learner's arrays. */

typedef struct {
    Py_buffer view[6];
    int taken;
} Arrays;

static void release(Arrays *arrays) {
    while (arrays->taken)
        PyBuffer_Release(&arrays->view[--arrays->taken]);
}

/* Each of so many bytes a game; all but the first are written. */
static bool take(Arrays *arrays, PyObject *tuple, const Py_ssize_t *sizes, int number, long games) {
    arrays->taken = 0;
    if (PyTuple_Size(tuple) != number)
        PyErr_SetString(PyExc_TypeError, "wrong number of arrays");
    while (!PyErr_Occurred() && arrays->taken < number) {
        Py_buffer *view = &arrays->view[arrays->taken];
        if (PyObject_GetBuffer(PyTuple_GetItem(tuple, arrays->taken), view, PyBUF_WRITABLE) < 0)
            break;
        if (view->len != sizes[arrays->taken++] * games)
            PyErr_SetString(PyExc_ValueError, "an array has the wrong size");
    }
    if (PyErr_Occurred())
        release(arrays);
    return !PyErr_Occurred();
}

static const Py_ssize_t step_sizes[] = {sizeof(int64_t), OBSERVATION, ACTIONS, 1, 2 * sizeof(float), 1};

static void show(const Game *game, long i, uint8_t *observations, uint8_t *masks, int8_t *movers) {
    write_observation(game, observations + i * OBSERVATION);
    write_mask(game, masks + i * ACTIONS);
    movers[i] = (int8_t)game->mover;
}

static void reward(const Games *games, const Game *game, float *rewards) {
    float margin = (float)(points(game, 0) - points(game, 1));
    rewards[0] = games->by_margin ? margin : winner(game) ? -1 : 1;
    rewards[1] = -rewards[0];
}

static void play(Games *games, long i, int move, float *rewards, uint8_t *done) {
    Table *table = &games->tables[i];
    write_letters(table->letters[table->game.mover], move);
    make(&table->game, move);
    settle(&table->game);
    rewards[2 * i] = rewards[2 * i + 1] = 0;
    done[i] = is_over(&table->game);
    if (done[i]) {
        reward(games, &table->game, rewards + 2 * i);
        deal(games, table);
    }
}

/* As a Python type. */

static void games_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    free(games_of(self)->tables);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *games_new(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    static char *names[] = {"count", "random", "edition", "by_margin", NULL};
    PyObject *count, *source, *edition;
    int by_margin;
    long games;
    Random random;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "OOOp", names, &count, &source, &edition, &by_margin)
        || !read_count(count, "games at once are 1 to 1000000", 1000000, &games) || !read_seed(source, &random))
        return NULL;
    Py_ssize_t index = PySequence_Index(objects.editions, edition);
    if (index < 0)
        return NULL;
    Games *self = (Games *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self)
        return NULL;
    /* A board is aligned to 16 bytes, as malloc's memory is. */
    self->tables = calloc((size_t)(games ? games : 1), sizeof(Table));
    if (!self->tables) {
        Py_DECREF((PyObject *)self);
        return PyErr_NoMemory();
    }
    self->count = games;
    self->random = random;
    self->edition = (int)index;
    self->by_margin = by_margin;
    for (long i = 0; i < games; i++)
        deal(self, &self->tables[i]);
    return (PyObject *)self;
}

static bool is_busy(PyObject *self) {
    if (games_of(self)->busy)
        PyErr_SetString(PyExc_RuntimeError, "another thread plays these games");
    return games_of(self)->busy;
}

/* show((observations, masks, movers)) */
static PyObject *games_show(PyObject *self, PyObject *tuple) {
    Games *games = games_of(self);
    Arrays arrays;
    if (is_busy(self) || !take(&arrays, tuple, step_sizes + 1, 3, games->count))
        return NULL;
    for (long i = 0; i < games->count; i++)
        show(&games->tables[i].game, i, arrays.view[0].buf, arrays.view[1].buf, arrays.view[2].buf);
    release(&arrays);
    Py_RETURN_NONE;
}

/* The first game whose action is illegal, -1 where none is; in place of each action stands its move. */
static long read_actions(Games *games, int64_t *actions) {
    for (long i = 0; i < games->count; i++) {
        int64_t action = actions[i];
        int move = action < 0 || action >= ACTIONS ? -1 : move_of(&games->tables[i].game, (long)action);
        if (move < 0 || !is_legal(&games->tables[i].game, move))
            return i;
        actions[i] = move;
    }
    return -1;
}

/* step((actions, observations, masks, movers, rewards, done)): -1, or the first game whose action is illegal. */
static PyObject *games_step(PyObject *self, PyObject *tuple) {
    Games *games = games_of(self);
    Arrays arrays;
    if (is_busy(self) || !take(&arrays, tuple, step_sizes, 6, games->count))
        return NULL;
    int64_t *actions = arrays.view[0].buf;
    long illegal;
    games->busy = true;
    Py_BEGIN_ALLOW_THREADS
    illegal = read_actions(games, actions);
    for (long i = 0; illegal < 0 && i < games->count; i++) {
        play(games, i, (int)actions[i], arrays.view[4].buf, arrays.view[5].buf);
        show(&games->tables[i].game, i, arrays.view[1].buf, arrays.view[2].buf, arrays.view[3].buf);
    }
    Py_END_ALLOW_THREADS
    games->busy = false;
    release(&arrays);
    return PyLong_FromLong(illegal);
}

/* choose((actions,), policy) */
static PyObject *games_choose(PyObject *self, PyObject *arguments) {
    Games *games = games_of(self);
    PyObject *tuple, *name;
    Policy policy;
    Arrays arrays;
    if (is_busy(self) || !PyArg_ParseTuple(arguments, "O!O", &PyTuple_Type, &tuple, &name) || !read_policy(name, &policy)
        || !take(&arrays, tuple, step_sizes, 1, games->count))
        return NULL;
    int64_t *actions = arrays.view[0].buf;
    for (long i = 0; i < games->count; i++) {
        const Game *game = &games->tables[i].game;
        actions[i] = action_of(game, choose(game, policy, &games->random).move);
    }
    release(&arrays);
    Py_RETURN_NONE;
}

/* state(type, i) */
static PyObject *games_state(PyObject *self, PyObject *arguments) {
    PyTypeObject *type;
    Py_ssize_t i;
    if (is_busy(self) || !PyArg_ParseTuple(arguments, "O!n", &PyType_Type, &type, &i))
        return NULL;
    if (i < 0 || i >= games_of(self)->count || !PyType_IsSubtype(type, kernel_type))
        return PyErr_Format(PyExc_IndexError, "there is no such game");
    Kernel *state = new_kernel(type);
    if (state) {
        state->game = games_of(self)->tables[i].game;
        memcpy(state->letters, games_of(self)->tables[i].letters, sizeof state->letters);
    }
    return (PyObject *)state;
}

static PyMethodDef methods[] = {
    {"show", games_show, METH_O, NULL},
    {"step", games_step, METH_O, NULL},
    {"choose", games_choose, METH_VARARGS, NULL},
    {"state", games_state, METH_VARARGS, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Many games."},
    {Py_tp_new, games_new},
    {Py_tp_dealloc, games_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {"arena_engine.patchwork._core.Games", sizeof(Games), 0, Py_TPFLAGS_DEFAULT, slots};

int add_games(PyObject *module) {
    PyObject *type = PyType_FromSpec(&spec);
    int added = type ? PyModule_AddObjectRef(module, "Games", type) : -1;
    Py_XDECREF(type);
    return added;
}
