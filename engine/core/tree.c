/* UCT over positions of Patchwork: tree.py is the reference, and says what is searched. */

#include "core.h"
#include <math.h>
#include <stdlib.h>

#define NONE 0 /* the root is nobody's child */
#define MAX_WIDTH 64

typedef struct {
    double value; /* sum of results for the seat that made the move */
    uint32_t visits, child, last_child, sibling;
    uint32_t list; /* its candidates in the pool, where the width limits them */
    uint16_t move, tried, candidates;
    bool known; /* its candidates have been counted */
} Node;

typedef struct {
    PyObject_HEAD
    Game root;
    Node *nodes;
    uint16_t *pool;
    uint32_t node_count, node_room, pool_count, pool_room, most;
    double c;
    int width;
    Policy policy;
    Random random;
    bool busy; /* another thread is in grow() */
} Tree;

static Tree *tree_of(PyObject *self) {
    return (Tree *)self;
}

static bool make_room(void **items, uint32_t *room, uint32_t needed, size_t size) {
    if (needed <= *room)
        return true;
    uint32_t wider = *room * 2 > needed ? *room * 2 : needed + 1024;
    void *moved = realloc(*items, wider * size);
    if (!moved)
        return false;
    *items = moved;
    *room = wider;
    return true;
}

static bool add_node(Tree *tree, int move, uint32_t *index) {
    if (!make_room((void **)&tree->nodes, &tree->node_room, tree->node_count + 1, sizeof(Node)))
        return false;
    *index = tree->node_count++;
    tree->nodes[*index] = (Node){.move = (uint16_t)move};
    return true;
}

/* Candidates: all legal moves, or with a width the tidiest of each patch. */

/* How many neighbouring cells are both empty. */
static int joints(Board empty) {
    Board last_column = BIT(8) | BIT(17) | BIT(26) | BIT(35) | BIT(44) | BIT(53) | BIT(62) | BIT(71) | BIT(80);
    return count(empty & empty >> 1 & ~last_column) + count(empty & empty >> SIDE);
}

typedef struct {
    int size, width;
    int joints[MAX_WIDTH];
    uint16_t moves[MAX_WIDTH];
} Tidiest;

/* Keeps those with the most joints, of equals the first. */
static void consider(Tidiest *best, int move, Board empty) {
    int merit = joints(empty), at = best->size;
    while (at > 0 && best->joints[at - 1] < merit)
        at--;
    if (at == best->width)
        return;
    if (best->size < best->width)
        best->size++;
    for (int i = best->size - 1; i > at; i--) {
        best->joints[i] = best->joints[i - 1];
        best->moves[i] = best->moves[i - 1];
    }
    best->joints[at] = merit;
    best->moves[at] = (uint16_t)move;
}

static int tidy_leather(const Game *game, int width, uint16_t *moves) {
    Tidiest best = {.width = width};
    Board empty = FULL ^ game->quilt[game->mover];
    for (Board left = empty; left; left &= left - 1)
        consider(&best, LEATHER + lowest(left), empty ^ BIT(lowest(left)));
    memcpy(moves, best.moves, sizeof(uint16_t) * (size_t)best.size);
    return best.size;
}

static int tidy_moves(const Game *game, int width, uint16_t *moves) {
    if (game->due)
        return tidy_leather(game, width, moves);
    int slots[OFFERED], options = payable(game, slots), listed = 0;
    Board empty = FULL ^ game->quilt[game->mover];
    Runs runs = runs_of(empty);
    moves[listed++] = ADVANCE;
    for (int i = 0; i < options; i++) {
        const Patch *patch = patch_at(game, slots[i]);
        Tidiest best = {.width = width};
        for (int look = patch->first_look; look < patch->first_look + patch->looks; look++)
            for (Board anchors = fits(&rules.looks[look], &runs); anchors; anchors &= anchors - 1) {
                int corner = lowest(anchors);
                consider(&best, BUY + look * CELLS + corner, empty & ~(rules.looks[look].shape << corner));
            }
        memcpy(moves + listed, best.moves, sizeof(uint16_t) * (size_t)best.size);
        listed += best.size;
    }
    return listed;
}

static bool count_candidates(Tree *tree, uint32_t index, const Game *game) {
    uint16_t moves[1 + OFFERED * MAX_WIDTH];
    Node *node = &tree->nodes[index];
    node->known = true;
    if (is_over(game))
        return true;
    if (!tree->width) {
        Places places;
        places.total = 0;
        if (!game->due)
            count_all(&places, game);
        node->candidates = (uint16_t)(game->due ? game->empty[game->mover] : 1 + places.total);
        return true;
    }
    int listed = tidy_moves(game, tree->width, moves);
    if (!make_room((void **)&tree->pool, &tree->pool_room, tree->pool_count + (uint32_t)listed, sizeof(uint16_t)))
        return false;
    memcpy(tree->pool + tree->pool_count, moves, sizeof(uint16_t) * (size_t)listed);
    node->list = tree->pool_count;
    node->candidates = (uint16_t)listed;
    tree->pool_count += (uint32_t)listed;
    return true;
}

/* The n-th legal move without listing them. */
static int nth_move(const Game *game, int n) {
    if (game->due)
        return LEATHER + nth(FULL ^ game->quilt[game->mover], n);
    if (!n)
        return ADVANCE;
    Places places;
    count_all(&places, game);
    return nth_place(&places, n - 1).move;
}

static int next_candidate(const Tree *tree, const Node *node, const Game *game) {
    return tree->width ? tree->pool[node->list + node->tried] : nth_move(game, node->tried);
}

/* One round: down to a new position, from there to the end, and up again. */

static bool expand(Tree *tree, uint32_t parent, Game *game, uint32_t *child) {
    int move = next_candidate(tree, &tree->nodes[parent], game);
    if (!add_node(tree, move, child))
        return false;
    Node *node = &tree->nodes[parent];
    if (node->tried++)
        tree->nodes[node->last_child].sibling = *child;
    else
        node->child = *child;
    node->last_child = *child;
    make(game, move);
    return true;
}

static uint32_t most_promising(const Tree *tree, const Node *node) {
    double wide = tree->c * sqrt(log(node->visits)), best = -INFINITY;
    uint32_t chosen = node->child;
    for (uint32_t index = node->child; index != NONE; index = tree->nodes[index].sibling) {
        const Node *child = &tree->nodes[index];
        double promise = child->value / child->visits + wide / sqrt(child->visits);
        if (promise > best) {
            best = promise;
            chosen = index;
        }
    }
    return chosen;
}

/* Seat a's result from 0 to 1: winning counts most, the margin a little. */
static double result(const Game *game) {
    double margin = (points(game, 0) - points(game, 1)) / 30.0;
    margin = margin > 1 ? 1 : margin < -1 ? -1 : margin;
    return 0.5 + 0.1 * margin + (winner(game) ? -0.4 : 0.4);
}

static bool improve(Tree *tree) {
    struct {
        uint32_t node;
        int seat;
    } path[MAX_PLIES];
    Game game = tree->root;
    uint32_t index = 0;
    int depth = 0;
    bool grown = false;
    while (!grown) {
        if (!tree->nodes[index].known && !count_candidates(tree, index, &game))
            return false;
        const Node *node = &tree->nodes[index];
        int seat = game.mover;
        if (node->tried < node->candidates) {
            if (tree->node_count >= tree->most)
                break;
            if (!expand(tree, index, &game, &index))
                return false;
            grown = true;
        } else if (node->candidates) {
            index = most_promising(tree, node);
            make(&game, tree->nodes[index].move);
        } else {
            break;
        }
        path[depth].node = index;
        path[depth++].seat = seat;
    }
    play_out(&game, tree->policy, &tree->random);
    double won = result(&game);
    tree->nodes[0].visits++;
    while (depth--) {
        tree->nodes[path[depth].node].visits++;
        tree->nodes[path[depth].node].value += path[depth].seat ? 1 - won : won;
    }
    return true;
}

/* Keeps what is below one child: breadth first, so that children lie side by side. */
static bool keep_below(Tree *tree, uint32_t top) {
    Tree kept = *tree;
    kept.nodes = NULL;
    kept.pool = NULL;
    kept.node_count = kept.node_room = kept.pool_count = kept.pool_room = 0;
    uint32_t index;
    uint32_t *origins = malloc(sizeof(uint32_t) * tree->node_count);
    bool done = origins && add_node(&kept, ADVANCE, &index);
    if (done) {
        kept.nodes[0] = tree->nodes[top];
        kept.nodes[0].sibling = NONE;
        origins[0] = top;
    }
    for (uint32_t parent = 0; done && parent < kept.node_count; parent++) {
        const Node *from = &tree->nodes[origins[parent]];
        if (tree->width && from->candidates) {
            done = make_room((void **)&kept.pool, &kept.pool_room, kept.pool_count + from->candidates, sizeof(uint16_t));
            if (!done)
                break;
            memcpy(kept.pool + kept.pool_count, tree->pool + from->list, sizeof(uint16_t) * from->candidates);
            kept.nodes[parent].list = kept.pool_count;
            kept.pool_count += from->candidates;
        }
        kept.nodes[parent].child = from->tried ? kept.node_count : NONE;
        for (uint32_t old = from->tried ? from->child : NONE; done && old != NONE; old = tree->nodes[old].sibling) {
            done = add_node(&kept, ADVANCE, &index);
            if (!done)
                break;
            kept.nodes[index] = tree->nodes[old];
            kept.nodes[index].sibling = tree->nodes[old].sibling == NONE ? NONE : index + 1;
            kept.nodes[parent].last_child = index;
            origins[index] = old;
        }
    }
    free(origins);
    free(done ? tree->nodes : kept.nodes);
    free(done ? tree->pool : kept.pool);
    if (done)
        *tree = kept;
    return done;
}

/* As a Python type. */

static void tree_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    free(tree_of(self)->nodes);
    free(tree_of(self)->pool);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static bool start_at(Tree *tree, const Game *game) {
    uint32_t root;
    tree->root = *game;
    settle(&tree->root);
    tree->node_count = tree->pool_count = 0;
    return add_node(tree, ADVANCE, &root);
}

static PyObject *tree_new(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    static char *names[] = {"state", "random", "c", "width", "policy", "nodes", NULL};
    PyObject *state, *source, *width, *policy_name, *nodes;
    double c;
    long wide, most;
    Policy policy;
    Random random;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "O!OdOOO", names, kernel_type, &state, &source, &c, &width,
                                     &policy_name, &nodes)
        || !read_count(width, "a width is 0 to 64", MAX_WIDTH, &wide)
        || !read_count(nodes, "a tree has 1 to 100000000 nodes", 100000000, &most) || !read_policy(policy_name, &policy)
        || !read_seed(source, &random))
        return NULL;
    Tree *self = (Tree *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self)
        return NULL;
    self->c = c;
    self->width = (int)wide;
    self->most = (uint32_t)most;
    self->policy = policy;
    self->random = random;
    if (!start_at(self, &((Kernel *)state)->game)) {
        Py_DECREF((PyObject *)self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static bool is_busy(PyObject *self) {
    if (tree_of(self)->busy)
        PyErr_SetString(PyExc_RuntimeError, "another thread grows this tree");
    return tree_of(self)->busy;
}

static PyObject *tree_grow(PyObject *self, PyObject *number) {
    Tree *tree = tree_of(self);
    bool done = true;
    long rounds;
    if (is_busy(self) || !read_count(number, "a number of playouts is 0 to 1000000000", 1000000000, &rounds))
        return NULL;
    tree->busy = true;
    Py_BEGIN_ALLOW_THREADS
    while (done && rounds--)
        done = improve(tree);
    Py_END_ALLOW_THREADS
    tree->busy = false;
    if (!done)
        return PyErr_NoMemory();
    Py_RETURN_NONE;
}

static PyObject *tree_children(PyObject *self, PyObject *unused) {
    (void)unused;
    const Tree *tree = tree_of(self);
    PyObject *list = is_busy(self) ? NULL : PyList_New(0);
    for (uint32_t index = tree->nodes[0].child; list && index != NONE; index = tree->nodes[index].sibling) {
        const Node *node = &tree->nodes[index];
        PyObject *line = Py_BuildValue("(NId)", move_object(node->move), node->visits, node->value);
        if (!line || PyList_Append(list, line) < 0)
            Py_CLEAR(list);
        Py_XDECREF(line);
    }
    return list;
}

static PyObject *tree_advance(PyObject *self, PyObject *move) {
    Tree *tree = tree_of(self);
    int number = move_number(move);
    if (is_busy(self))
        return NULL;
    if (number < 0 || !is_legal(&tree->root, number))
        return refuse(objects.game_error, move, "illegal at the root of the tree");
    uint32_t child = tree->nodes[0].child;
    while (child != NONE && tree->nodes[child].move != number)
        child = tree->nodes[child].sibling;
    Game game = tree->root;
    make(&game, number);
    if (!(child == NONE ? start_at(tree, &game) : keep_below(tree, child)))
        return PyErr_NoMemory();
    tree->root = game;
    settle(&tree->root);
    Py_RETURN_NONE;
}

static PyObject *get_visits(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromUnsignedLong(tree_of(self)->nodes[0].visits);
}

static PyMethodDef methods[] = {
    {"grow", tree_grow, METH_O, NULL},
    {"children", tree_children, METH_NOARGS, NULL},
    {"advance", tree_advance, METH_O, NULL},
    {0},
};

static PyGetSetDef properties[] = {
    {"visits", get_visits, NULL, NULL, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A search tree."},
    {Py_tp_new, tree_new},
    {Py_tp_dealloc, tree_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyType_Spec spec = {"arena_engine.patchwork._core.Tree", sizeof(Tree), 0, Py_TPFLAGS_DEFAULT, slots};

int add_tree(PyObject *module) {
    PyObject *type = PyType_FromSpec(&spec);
    int added = type ? PyModule_AddObjectRef(module, "Tree", type) : -1;
    Py_XDECREF(type);
    return added;
}
