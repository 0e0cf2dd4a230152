/* arena_engine.patchwork._core: the hot calls of the Patchwork engine. docs/decisions/compiled-core.md says why. */

#include "core.h"

static PyMethodDef functions[] = {
    {"load", load, METH_VARARGS, "Takes the facts of the game, once."},
    {0},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_core", "The compiled core of the Patchwork engine.", -1, functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__core(void) {
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
    if (!__builtin_cpu_supports("popcnt")) {
        PyErr_SetString(PyExc_ImportError, "this processor is older than the compiled core needs");
        return NULL;
    }
#endif
    PyObject *module = PyModule_Create(&definition);
    if (module && (add_kernel(module) < 0 || add_tree(module) < 0 || add_games(module) < 0)) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
