/* A position: the compiled base of arena_engine.patchwork.State. Its methods are those of position.py that are called
   most; that module says what each does. */

#include "core.h"

PyTypeObject *kernel_type;

static Kernel *kernel(PyObject *self) {
    return (Kernel *)self;
}

/* It holds nothing that could hold it, so the garbage collector need not look at the millions a search may keep. */
Kernel *new_kernel(PyTypeObject *type) {
    Kernel *made = (Kernel *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (made && PyObject_GC_IsTracked((PyObject *)made))
        PyObject_GC_UnTrack(made);
    return made;
}

static void kernel_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_CLEAR(kernel(self)->players[0]);
    Py_CLEAR(kernel(self)->players[1]);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Making one of its six parts. */

static const char *read_circle(Game *game, PyObject *text) {
    uint64_t seen = 0;
    Py_ssize_t size;
    const char *circle = PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
    if (!circle || size > PATCHES)
        return "the circle is a text of at most 33 letters";
    for (game->left = 0; game->left < size; game->left++) {
        int patch = patch_of(circle[game->left]);
        if (patch < 0 || seen >> patch & 1)
            return "the circle holds patches, each once";
        seen |= (uint64_t)1 << patch;
        game->ring[game->left] = (uint8_t)patch;
    }
    return NULL;
}

static const char *read_letters(Kernel *self, int seat, PyObject *number) {
    char *bytes;
    Py_ssize_t size;
    PyObject *letters = PyLong_Check(number) ? PyObject_CallMethod(number, "to_bytes", "is", CELLS, "little") : NULL;
    if (!letters || PyBytes_AsStringAndSize(letters, &bytes, &size) < 0 || size != CELLS) {
        Py_XDECREF(letters);
        return "letters are an integer of 81 bytes";
    }
    memcpy(self->letters[seat], bytes, CELLS);
    Py_DECREF(letters);
    self->game.quilt[seat] = 0;
    for (int cell = 0; cell < CELLS; cell++) {
        int letter = self->letters[seat][cell];
        if (letter && letter != '*' && patch_of(letter) < 0)
            return "letters are those of patches, *, or 0";
        if (letter)
            self->game.quilt[seat] |= BIT(cell);
    }
    self->game.empty[seat] = (uint8_t)(CELLS - count(self->game.quilt[seat]));
    return NULL;
}

static PyObject *board_object(Board board) {
    char text[CELLS / 4 + 2], *digit = text + sizeof text - 1;
    *digit = 0;
    do
        *--digit = "0123456789abcdef"[(int)board & 15];
    while (board >>= 4);
    return PyLong_FromString(digit, NULL, 16);
}

static const char *read_quilt(Kernel *self, int seat, PyObject *number) {
    PyObject *ours = board_object(self->game.quilt[seat]);
    int same = ours ? PyObject_RichCompareBool(ours, number, Py_EQ) : -1;
    Py_XDECREF(ours);
    return same == 1 ? NULL : "the quilt is the mask of its letters";
}

static bool read_int(PyObject *number, long most, long *value) {
    int overflow;
    *value = PyLong_Check(number) ? PyLong_AsLongAndOverflow(number, &overflow) : -1;
    return *value >= 0 && *value <= most && !overflow;
}

static const char *read_player(Kernel *self, int seat, PyObject *player) {
    long buttons, time, income;
    const char *why;
    if (!PyTuple_Check(player) || PyTuple_Size(player) != 5)
        return "a player is a quilt, its letters, buttons, time and income";
    if ((why = read_letters(self, seat, PyTuple_GetItem(player, 1))))
        return why;
    if ((why = read_quilt(self, seat, PyTuple_GetItem(player, 0))))
        return why;
    if (!read_int(PyTuple_GetItem(player, 2), 1000000, &buttons) || !read_int(PyTuple_GetItem(player, 4), 1000, &income))
        return "buttons are 0 to 1000000, income is 0 to 1000";
    if (!read_int(PyTuple_GetItem(player, 3), rules.final, &time))
        return "a time is a space of the track";
    self->game.buttons[seat] = (int32_t)buttons;
    self->game.time[seat] = (uint8_t)time;
    self->game.income[seat] = (int32_t)income;
    return NULL;
}

/* What keeps every later step within its tables. */
static const char *check_turn(const Game *game) {
    int me = game->mover, other = 1 - me;
    if (game->due && (game->time[me] <= game->time[other] || !game->empty[me]))
        return "leather is owed by the seat ahead, for an empty cell";
    if (!game->due && game->time[me] > game->time[other])
        return "the seat behind moves";
    if (game->bonus < 0 && (has_seven(game->quilt[0]) || has_seven(game->quilt[1])))
        return "a full 7x7 owns the tile";
    return NULL;
}

static const char *read_parts(Kernel *self, PyObject *parts) {
    PyObject *circle, *players, *edition;
    int mover, due, bonus;
    const char *why;
    if (!PyArg_ParseTuple(parts, "OOipiO", &circle, &players, &mover, &due, &bonus, &edition))
        return "a position has six parts: circle, players, mover, due, bonus, edition";
    if ((why = read_circle(&self->game, circle)))
        return why;
    if (!PyTuple_Check(players) || PyTuple_Size(players) != 2)
        return "two players";
    for (int seat = 0; seat < 2; seat++)
        if ((why = read_player(self, seat, PyTuple_GetItem(players, seat))))
            return why;
    Py_ssize_t index = PySequence_Index(objects.editions, edition);
    if (index < 0 || mover < 0 || mover > 1 || bonus < -1 || bonus > 1)
        return "a known edition, mover 0 or 1, bonus -1, 0 or 1";
    self->game.edition = (uint8_t)index;
    self->game.mover = (uint8_t)mover;
    self->game.due = (uint8_t)due;
    self->game.bonus = (int8_t)bonus;
    return check_turn(&self->game);
}

static PyObject *kernel_new(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    static char *names[] = {"circle", "players", "mover", "due", "bonus", "edition", NULL};
    PyObject *part[6];
    if (!objects.loaded)
        return PyErr_Format(PyExc_RuntimeError, "the rules are not loaded");
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "OOOOOO", names, &part[0], &part[1], &part[2], &part[3], &part[4],
                                     &part[5]))
        return NULL;
    PyObject *parts = PyTuple_Pack(6, part[0], part[1], part[2], part[3], part[4], part[5]);
    Kernel *self = parts ? new_kernel(type) : NULL;
    const char *why = self ? read_parts(self, parts) : NULL;
    if (why) {
        PyErr_Clear();
        refuse(objects.position_error, parts, why);
        Py_CLEAR(self);
    }
    Py_XDECREF(parts);
    return (PyObject *)self;
}

static int kernel_init(PyObject *self, PyObject *arguments, PyObject *named) {
    (void)self, (void)arguments, (void)named;
    return 0; /* all is done already, and a position never changes */
}

/* Parts and players. */

static PyObject *circle_text(const Game *game, int size) {
    char letters[PATCHES];
    for (int i = 0; i < size; i++)
        letters[i] = rules.patches[game->ring[game->first + i]].letter;
    return PyUnicode_FromStringAndSize(letters, size);
}

static PyObject *letters_object(const uint8_t *letters) {
    char text[2 * CELLS + 1], *digit = text;
    for (int cell = CELLS; cell--;) {
        *digit++ = "0123456789abcdef"[letters[cell] >> 4];
        *digit++ = "0123456789abcdef"[letters[cell] & 15];
    }
    *digit = 0;
    return PyLong_FromString(text, NULL, 16);
}

static PyObject *make_player(Kernel *self, int seat) {
    const Game *game = &self->game;
    PyObject *values = Py_BuildValue("(NNiii)", board_object(game->quilt[seat]), letters_object(self->letters[seat]),
                                     game->buttons[seat], game->time[seat], game->income[seat]);
    PyObject *arguments = values ? PyTuple_Pack(1, values) : NULL;
    PyObject *player = NULL;
    if (arguments)
        player = ((newfunc)PyType_GetSlot(&PyTuple_Type, Py_tp_new))((PyTypeObject *)objects.player, arguments, NULL);
    Py_XDECREF(arguments);
    Py_XDECREF(values);
    return player;
}

/* Borrowed. */
static PyObject *player_object(Kernel *self, int seat) {
    if (!self->players[seat])
        self->players[seat] = make_player(self, seat);
    return self->players[seat];
}

static PyObject *get_circle(PyObject *self, void *unused) {
    (void)unused;
    return circle_text(&kernel(self)->game, kernel(self)->game.left);
}

static PyObject *get_offered(PyObject *self, void *unused) {
    (void)unused;
    return circle_text(&kernel(self)->game, offered(&kernel(self)->game));
}

static PyObject *get_players(PyObject *self, void *unused) {
    (void)unused;
    PyObject *a = player_object(kernel(self), 0), *b = player_object(kernel(self), 1);
    return a && b ? PyTuple_Pack(2, a, b) : NULL;
}

static PyObject *get_mover(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(kernel(self)->game.mover);
}

static PyObject *get_due(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(kernel(self)->game.due);
}

static PyObject *get_bonus(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(kernel(self)->game.bonus);
}

static PyObject *get_edition(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(PyTuple_GetItem(objects.editions, kernel(self)->game.edition));
}

static PyObject *get_is_over(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(is_over(&kernel(self)->game));
}

static PyObject *get_to_move(PyObject *self, void *unused) {
    (void)unused;
    const Game *game = &kernel(self)->game;
    return is_over(game) ? PyTuple_New(0) : PyTuple_Pack(1, objects.seats[game->mover]);
}

/* A quilt in notation. */
static void write_quilt(char *text, const uint8_t *letters) {
    for (int row = 0; row < CELLS; row += SIDE) {
        int empty = 0;
        for (int cell = row; cell < row + SIDE; cell++) {
            empty += !letters[cell];
            if (empty && (letters[cell] || cell == row + SIDE - 1)) {
                *text++ = (char)('0' + empty);
                empty = 0;
            }
            if (letters[cell])
                *text++ = (char)letters[cell];
        }
        *text++ = '/';
    }
    text[-1] = 0;
}

/* Referee and bots write every position they come to: it is what they compare. */
static PyObject *get_text(PyObject *self, void *unused) {
    (void)unused;
    const Game *game = &kernel(self)->game;
    char circle[PATCHES + 1] = "-", quilts[2][CELLS + SIDE];
    for (int i = 0; i < game->left; i++)
        circle[i] = rules.patches[game->ring[game->first + i]].letter;
    circle[game->left ? game->left : 1] = 0;
    for (int seat = 0; seat < 2; seat++)
        write_quilt(quilts[seat], kernel(self)->letters[seat]);
    return PyUnicode_FromFormat("%s %s %d,%d %s %d,%d %U%s %c %U", circle, quilts[0], game->buttons[0], game->time[0],
                                quilts[1], game->buttons[1], game->time[1], objects.seats[game->mover],
                                game->due ? "*" : "", "-ab"[1 + game->bonus],
                                PyTuple_GetItem(objects.editions, game->edition));
}

static PyObject *call_check_on(PyObject *self) {
    return PyObject_CallMethod(self, "_check_on", NULL); /* raises GameOverError */
}

static PyObject *get_seat_to_move(PyObject *self, void *unused) {
    (void)unused;
    const Game *game = &kernel(self)->game;
    return is_over(game) ? call_check_on(self) : Py_NewRef(objects.seats[game->mover]);
}

static PyObject *get_winner(PyObject *self, void *unused) {
    (void)unused;
    const Game *game = &kernel(self)->game;
    return Py_NewRef(is_over(game) ? objects.seats[winner(game)] : Py_None);
}

/* -1 with an error. */
static int read_seat(PyObject *seat) {
    for (int index = 0; index < 2; index++)
        if (seat == objects.seats[index] || (PyUnicode_Check(seat) && !PyUnicode_Compare(seat, objects.seats[index])))
            return index;
    refuse(objects.game_error, seat, "no such seat: a or b");
    return -1;
}

static PyObject *kernel_player(PyObject *self, PyObject *seat) {
    int index = read_seat(seat);
    PyObject *player = index < 0 ? NULL : player_object(kernel(self), index);
    return player ? Py_NewRef(player) : NULL;
}

static PyObject *kernel_buttons(PyObject *self, PyObject *seat) {
    int index = read_seat(seat);
    return index < 0 ? NULL : PyLong_FromLong(kernel(self)->game.buttons[index]);
}

static PyObject *kernel_time(PyObject *self, PyObject *seat) {
    int index = read_seat(seat);
    return index < 0 ? NULL : PyLong_FromLong(kernel(self)->game.time[index]);
}

static PyObject *kernel_income(PyObject *self, PyObject *seat) {
    int index = read_seat(seat);
    return index < 0 ? NULL : PyLong_FromLong(kernel(self)->game.income[index]);
}

static PyObject *kernel_quilt(PyObject *self, PyObject *seat) {
    int index = read_seat(seat);
    return index < 0 ? NULL : board_object(kernel(self)->game.quilt[index]);
}

static PyObject *kernel_score(PyObject *self, PyObject *seat) {
    int index = read_seat(seat);
    return index < 0 ? NULL : PyLong_FromLong(points(&kernel(self)->game, index));
}

static PyObject *kernel_scores(PyObject *self, PyObject *unused) {
    (void)unused;
    return Py_BuildValue("(ii)", points(&kernel(self)->game, 0), points(&kernel(self)->game, 1));
}

/* Moves. */

static PyObject *leather_list(const Game *game) {
    PyObject *list = PyList_New(game->empty[game->mover]);
    Py_ssize_t listed = 0;
    for (Board empty = FULL ^ game->quilt[game->mover]; list && empty; empty &= empty - 1)
        PyList_SetItem(list, listed++, Py_NewRef(objects.leather[lowest(empty)]));
    return list;
}

/* As list_moves in convert.c, but straight into the list: authors call this most. */
static PyObject *move_list(const Game *game) {
    if (is_over(game))
        return PyList_New(0);
    if (game->due)
        return leather_list(game);
    Places places;
    count_all(&places, game);
    PyObject *list = PyList_New(1 + places.total);
    if (!list)
        return NULL;
    Py_ssize_t listed = 0;
    PyList_SetItem(list, listed++, Py_NewRef(objects.advance));
    for (int i = 0; i < places.looks; i++) {
        int look = places.found[i].look;
        PyObject **moves = objects.buy[look];
        if (!know_patch(rules.looks[look].patch)) {
            Py_DECREF(list);
            return NULL;
        }
        for (Board anchors = places.found[i].anchors; anchors; anchors &= anchors - 1)
            PyList_SetItem(list, listed++, Py_NewRef(moves[lowest(anchors)]));
    }
    return list;
}

static PyObject *kernel_legal_moves(PyObject *self, PyObject *arguments, PyObject *named) {
    static char *names[] = {"seat", NULL};
    PyObject *seat = Py_None;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "|O", names, &seat))
        return NULL;
    if (seat != Py_None) {
        int index = is_over(&kernel(self)->game) ? -1 : read_seat(seat);
        if (index != kernel(self)->game.mover)
            return PyErr_Occurred() ? NULL : PyList_New(0);
    }
    return move_list(&kernel(self)->game);
}

static PyObject *kernel_is_legal(PyObject *self, PyObject *move) {
    int number = move_number(move);
    return PyBool_FromLong(number >= 0 && is_legal(&kernel(self)->game, number));
}

static Kernel *copy(Kernel *self) {
    Kernel *next = new_kernel(Py_TYPE((PyObject *)self));
    if (next) {
        next->game = self->game;
        memcpy(next->letters, self->letters, sizeof next->letters);
    }
    return next;
}

static PyObject *step(Kernel *self, int move) {
    Kernel *next = copy(self);
    if (!next)
        return NULL;
    int me = self->game.mover;
    make(&next->game, move);
    settle(&next->game);
    write_letters(next->letters[me], move);
    next->players[1 - me] = Py_XNewRef(self->players[1 - me]);
    return (PyObject *)next;
}

static PyObject *kernel_after(PyObject *self, PyObject *move) {
    int number = move_number(move);
    if (number >= 0 && is_legal(&kernel(self)->game, number))
        return step(kernel(self), number);
    PyObject *none = PyObject_CallMethod(self, "_check", "O", move); /* raises, and says why */
    if (none) {
        Py_DECREF(none);
        PyErr_SetString(PyExc_SystemError, "the compiled core refuses what the pure one allows");
    }
    return NULL;
}

static PyObject *kernel_after_action(PyObject *self, PyObject *action) {
    long id = PyLong_Check(action) ? PyLong_AsLong(action) : -1;
    PyErr_Clear();
    int move = move_of(&kernel(self)->game, id);
    if (move >= 0 && is_legal(&kernel(self)->game, move))
        return step(kernel(self), move);
    return PyObject_CallMethod(self, "_after_action", "O", action); /* raises, or knows other integers */
}

static PyObject *kernel_action_mask(PyObject *self, PyObject *unused) {
    (void)unused;
    uint8_t mask[ACTIONS];
    write_mask(&kernel(self)->game, mask);
    return PyBytes_FromStringAndSize((const char *)mask, ACTIONS);
}

/* Random play. */

/* (random, policy="uniform"), read by hand: a playout takes four microseconds, parsing by format a tenth of one. */
static bool read_chance(PyObject *const *arguments, Py_ssize_t given, PyObject *names, Random *random, Policy *policy) {
    PyObject *found[2] = {NULL, NULL};
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < given + named; i++) {
        PyObject *name = i < given ? NULL : PyTuple_GetItem(names, i - given);
        Py_ssize_t at = !name                                                  ? i
                        : !PyUnicode_CompareWithASCIIString(name, "random") ? 0
                        : !PyUnicode_CompareWithASCIIString(name, "policy") ? 1
                                                                               : 2;
        if (at > 1 || found[at]) {
            PyErr_SetString(PyExc_TypeError, "arguments are (random, policy='uniform')");
            return false;
        }
        found[at] = arguments[i];
    }
    if (!found[0])
        PyErr_SetString(PyExc_TypeError, "arguments are (random, policy='uniform')");
    return found[0] && read_policy(found[1], policy) && read_seed(found[0], random);
}

static PyObject *kernel_random_move(PyObject *self, PyObject *const *arguments, Py_ssize_t given, PyObject *names) {
    Random random;
    Policy policy;
    if (is_over(&kernel(self)->game))
        return call_check_on(self);
    if (!read_chance(arguments, given, names, &random, &policy))
        return NULL;
    return move_object(choose(&kernel(self)->game, policy, &random).move);
}

static PyObject *kernel_playout(PyObject *self, PyObject *const *arguments, Py_ssize_t given, PyObject *names) {
    Random random;
    Policy policy;
    if (!read_chance(arguments, given, names, &random, &policy))
        return NULL;
    Kernel *last = copy(kernel(self));
    if (!last)
        return NULL;
    Game game = last->game;
    while (!is_over(&game)) {
        int me = game.mover;
        Choice choice = choose(&game, policy, &random);
        make_choice(&game, choice);
        write_letters(last->letters[me], choice.move);
    }
    last->game = game;
    settle(&last->game);
    return (PyObject *)last;
}

static PyObject *kernel_playouts(PyObject *self, PyObject *arguments, PyObject *named) {
    static char *names[] = {"count", "random", "policy", NULL};
    PyObject *number, *source, *name = NULL;
    Random random;
    Policy policy;
    long games, wins[2] = {0, 0};
    long long points_of[2] = {0, 0};
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "OO|O", names, &number, &source, &name)
        || !read_count(number, "a number of playouts is 0 to 1000000000", 1000000000, &games)
        || !read_policy(name, &policy) || !read_seed(source, &random))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    for (long i = 0; i < games; i++) {
        Game game = kernel(self)->game;
        play_out(&game, policy, &random);
        wins[winner(&game)]++;
        points_of[0] += points(&game, 0);
        points_of[1] += points(&game, 1);
    }
    Py_END_ALLOW_THREADS
    return PyObject_CallFunction(objects.tally, "l(ll)(LL)", games, wins[0], wins[1], points_of[0], points_of[1]);
}

static uint64_t perft(const Game *game, long depth) {
    uint16_t moves[ACTIONS];
    uint64_t leaves = 0;
    if (is_over(game) || !depth)
        return 1;
    int listed = list_moves(game, moves);
    if (depth == 1)
        return (uint64_t)listed;
    for (int i = 0; i < listed; i++) {
        Game next = *game;
        make(&next, moves[i]);
        leaves += perft(&next, depth - 1);
    }
    return leaves;
}

static PyObject *kernel_perft(PyObject *self, PyObject *number) {
    long depth;
    uint64_t leaves;
    if (!read_count(number, "a depth is 0 to 100", 100, &depth))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    leaves = perft(&kernel(self)->game, depth);
    Py_END_ALLOW_THREADS
    return PyLong_FromUnsignedLongLong(leaves);
}

/* As values. */

static PyObject *kernel_compare(PyObject *self, PyObject *other, int how) {
    if ((how != Py_EQ && how != Py_NE) || !PyObject_TypeCheck(other, kernel_type))
        Py_RETURN_NOTIMPLEMENTED;
    const Kernel *mine = kernel(self), *theirs = kernel(other);
    bool same = mine->game.left == theirs->game.left
                && !memcmp(&mine->game, &theirs->game, offsetof(Game, ring) + mine->game.left)
                && !memcmp(mine->letters, theirs->letters, sizeof mine->letters);
    return PyBool_FromLong(same == (how == Py_EQ));
}

static Py_hash_t kernel_hash(PyObject *self) {
    const uint8_t *bytes = (const uint8_t *)&kernel(self)->game;
    uint64_t hash = kernel(self)->game.left;
    for (size_t i = 0; i < offsetof(Game, ring) + kernel(self)->game.left; i++)
        hash = (hash ^ bytes[i]) * 0x100000001B3u;
    return (Py_hash_t)(hash ^ hash >> 32) == -1 ? 0 : (Py_hash_t)(hash ^ hash >> 32);
}

#define NAMED(name, function) {name, (PyCFunction)(void (*)(void))function, METH_VARARGS | METH_KEYWORDS, NULL}
#define QUICK(name, function) {name, (PyCFunction)(void (*)(void))function, METH_FASTCALL | METH_KEYWORDS, NULL}

static PyMethodDef methods[] = {
    {"player", kernel_player, METH_O, NULL},
    {"buttons", kernel_buttons, METH_O, NULL},
    {"time", kernel_time, METH_O, NULL},
    {"income", kernel_income, METH_O, NULL},
    {"quilt", kernel_quilt, METH_O, NULL},
    {"score", kernel_score, METH_O, NULL},
    {"scores", kernel_scores, METH_NOARGS, NULL},
    NAMED("legal_moves", kernel_legal_moves),
    {"is_legal", kernel_is_legal, METH_O, NULL},
    {"after", kernel_after, METH_O, NULL},
    {"after_unchecked", kernel_after, METH_O, NULL},
    {"after_action", kernel_after_action, METH_O, NULL},
    {"action_mask", kernel_action_mask, METH_NOARGS, NULL},
    QUICK("random_move", kernel_random_move),
    QUICK("playout", kernel_playout),
    NAMED("playouts", kernel_playouts),
    {"perft", kernel_perft, METH_O, NULL},
    {0},
};

static PyGetSetDef properties[] = {
    {"_circle", get_circle, NULL, NULL, NULL},
    {"_players", get_players, NULL, NULL, NULL},
    {"_mover", get_mover, NULL, NULL, NULL},
    {"_due", get_due, NULL, NULL, NULL},
    {"_bonus", get_bonus, NULL, NULL, NULL},
    {"_edition", get_edition, NULL, NULL, NULL},
    {"circle", get_circle, NULL, NULL, NULL},
    {"offered", get_offered, NULL, NULL, NULL},
    {"leather_due", get_due, NULL, NULL, NULL},
    {"text", get_text, NULL, NULL, NULL},
    {"is_over", get_is_over, NULL, NULL, NULL},
    {"to_move", get_to_move, NULL, NULL, NULL},
    {"seat_to_move", get_seat_to_move, NULL, NULL, NULL},
    {"winner", get_winner, NULL, NULL, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A position: the compiled base of State."},
    {Py_tp_new, kernel_new},
    {Py_tp_init, kernel_init},
    {Py_tp_dealloc, kernel_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_richcompare, kernel_compare},
    {Py_tp_hash, kernel_hash},
    {0, NULL},
};

static PyType_Spec spec = {
    "arena_engine.patchwork._core.Kernel", sizeof(Kernel), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots,
};

int add_kernel(PyObject *module) {
    kernel_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return kernel_type ? PyModule_AddObjectRef(module, "Kernel", (PyObject *)kernel_type) : -1;
}
