# What core.py uses of the compiled core, which is written in engine/core.

from arena_engine.patchwork.core import PureKernel

class Kernel(PureKernel): ...

def load(*facts: object) -> None: ...
