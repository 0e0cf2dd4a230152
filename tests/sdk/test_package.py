"""What the package promises as a whole: its names, and that it is light."""

import subprocess
import sys

import arena_sdk


def modules_after(statement: str) -> set[str]:
    script = f"import sys; {statement}; print(*sys.modules)"
    return set(subprocess.check_output([sys.executable, "-c", script], text=True).split())


def test_public_names() -> None:
    assert arena_sdk.__all__ == ["RESIGN", "Bot", "Clock", "Result"]


def test_importing_it_loads_neither_grpc_nor_protobuf_nor_the_server() -> None:
    loaded = {name.partition(".")[0] for name in modules_after("import arena_sdk")}
    assert "arena_sdk" in loaded
    assert not loaded & {"grpc", "google", "arena", "arena_server", "arena_engine", "asyncio"}


def test_serving_loads_grpc_and_protobuf_alone() -> None:
    top = {name.partition(".")[0] for name in modules_after("import arena_sdk.session, arena_engine.patchwork")}
    foreign = {name for name in top if not name.startswith("_")} - sys.stdlib_module_names
    assert foreign <= {
        "arena",
        "arena_engine",
        "arena_sdk",
        "google",
        "grpc",
        "grpc_health",  # grpc itself looks for it
        "grpc_reflection",  # likewise
        "grpc_tools",  # likewise
        "typing_extensions",
        "cython_runtime",
        "sitecustomize",
    }
