"""Bot processes: started as promised, heard of when they end, and gone when killed - with real processes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from arena_server.launching import processes
from arena_server.launching.processes import Exit, Keeper, Process, SpawnError
from arena_server.model import ArenaError

Run = Callable[[Callable[[Keeper], Awaitable[Any]]], Any]

BOUND_S = 5.0
HERE = Path("/")

# Forks, becomes a daemon by the book, tells its pid in a file and hangs on to standard output.
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    if sys.argv[2:]:
        os.execvpe(sys.executable, [sys.executable, "-S", "-c", "import os, sys, time; "
            "open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(600)", sys.argv[1]], {})
    open(sys.argv[1], "w").write(str(os.getpid()))
    time.sleep(600)
os.wait()
"""


def sh(script: str) -> list[str]:
    return ["sh", "-c", script]


def python(code: str, *args: str) -> list[str]:
    return [sys.executable, "-S", "-c", code, *args]


async def ended(process: Process) -> Exit:
    async with asyncio.timeout(BOUND_S):
        return await asyncio.shield(process.exited)


async def until(true: Callable[[], Any]) -> None:
    async with asyncio.timeout(BOUND_S):
        while not true():
            await asyncio.sleep(0.01)


async def pid_in(path: Path) -> int:
    def text() -> str:
        return path.read_text() if path.exists() else ""

    await until(text)
    return int(text())


async def printed(process: Process, enough: int) -> processes.Output:
    async with asyncio.timeout(BOUND_S):
        while (output := await process.output()).stdout_bytes < enough:
            await asyncio.sleep(0.01)
    return output


def alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def marked(token: str) -> list[int]:
    found = []
    for pid in psutil.pids():
        try:
            if f"ARENA_TREE={token}." in Path(f"/proc/{pid}/environ").read_text():
                found.append(pid)
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 0", "exit status 0"),
        ("exit 3", "exit status 3"),
        ("kill -SEGV $$", "killed by SIGSEGV"),
        ("kill -40 $$", "killed by signal 40"),
    ],
)
def test_an_exit_is_told_with_its_cause_its_output_and_its_cost(
    run: Run, env: dict[str, str], script: str, words: str
) -> None:
    async def body(keeper: Keeper) -> Exit:
        process = await keeper.spawn(sh(f"echo out; printf 'b\\377d' >&2; {script}"), HERE, env)
        return await ended(process)

    how = run(body)
    assert how.describe() == words
    assert how.output == processes.Output("out\n", "b\\xffd", 4, 3)
    assert how.cpu_us >= 0
    assert 500 < how.max_rss_kb < 100_000


def test_a_bot_gets_its_folder_its_environment_and_nothing_else(
    run_once: Run, env: dict[str, str], tmp_path: Path
) -> None:
    code = """
import json, os, sys
print(json.dumps({
    "cwd": os.getcwd(), "env": dict(os.environ), "input": sys.stdin.read(),
    "fds": [fd for fd in range(64) if os.path.exists(f"/proc/self/fd/{fd}")],
    "leader": os.getpid() == os.getsid(0) == os.getpgrp(),
}))
"""

    async def body(keeper: Keeper) -> tuple[Process, Exit]:
        process = await keeper.spawn(python(code), tmp_path, {**env, "NAME": "välue"})
        return process, await ended(process)

    process, how = run_once(body)
    seen = json.loads(how.output.stdout)
    mark = seen["env"].pop("ARENA_TREE")
    seen["env"].pop("LC_CTYPE", None)  # Python sets it for itself
    assert mark.endswith(f".{process.id}")
    assert seen == {
        "cwd": str(tmp_path),
        "env": {**env, "NAME": "välue"},
        "input": "",
        "fds": [0, 1, 2],
        "leader": True,
    }


def test_a_folder_of_the_command_goes_with_the_keeper(run_once: Run, tmp_path: Path) -> None:
    folder = tmp_path / "sockets"
    folder.mkdir()
    (folder / "one").touch()

    async def body(keeper: Keeper) -> None:
        keeper.tidy(folder)
        keeper.tidy(tmp_path / "never made")

    run_once(body)
    assert not folder.exists()


def test_a_bot_starts_with_default_signals(run_once: Run, env: dict[str, str]) -> None:
    async def body(keeper: Keeper) -> Exit:
        return await ended(await keeper.spawn(["grep", "-E", "Sig(Ign|Blk)", "/proc/self/status"], HERE, env))

    before = signal.signal(signal.SIGQUIT, signal.SIG_IGN)  # as for a command in the background of a script
    try:
        masks = [word for word in run_once(body).output.stdout.split() if not word.startswith("Sig")]
    finally:
        signal.signal(signal.SIGQUIT, before)
    standard = (1 << 31) - 1  # what lies above is the C library's
    assert [int(mask, 16) & standard for mask in masks] == [0, 0]


@pytest.mark.parametrize(
    ("argv", "cwd", "words"),
    [
        (["no-such-command", "a b"], "/", "No such file or directory: no-such-command 'a b' - mend its command"),
        (["./no-such-file"], "/", "No such file or directory"),
        (["/etc/passwd"], "/", "Permission denied"),
        (["/etc"], "/", "Permission denied"),
        (["sh"], "/no/such/folder", "cannot enter the bot's folder: No such file or directory: /no/such/folder"),
        (["sh", "zero\0byte"], "/", "embedded null byte"),
    ],
)
def test_a_command_that_cannot_run_is_refused_with_the_reason(
    run_once: Run, env: dict[str, str], argv: list[str], cwd: str, words: str
) -> None:
    async def body(keeper: Keeper) -> Exit:
        with pytest.raises(SpawnError) as caught:
            await keeper.spawn(argv, Path(cwd), env)
        assert words in str(caught.value)
        return await ended(await keeper.spawn(sh("exit 0"), HERE, env))

    assert run_once(body).code == 0


def test_a_file_without_a_first_line_is_no_command(run_once: Run, env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "bot").write_text("exit 0\n")
    (tmp_path / "bot").chmod(0o755)

    async def body(keeper: Keeper) -> None:
        with pytest.raises(SpawnError, match="Exec format error"):
            await keeper.spawn(["./bot"], tmp_path, env)

    run_once(body)


def test_a_flood_blocks_nobody_and_its_end_is_kept(run: Run, env: dict[str, str]) -> None:
    flood = "head -c 10485760 /dev/zero | tr '\\0' {0}; echo end {0}"

    async def body(keeper: Keeper) -> tuple[Exit, float]:
        loud = await keeper.spawn(sh(flood.format("x") + "; (" + flood.format("y") + ") >&2"), HERE, env)
        quiet = await keeper.spawn(sh("exit 0"), HERE, env)
        before = time.monotonic()
        await ended(quiet)
        return await ended(loud), time.monotonic() - before

    how, took = run(body)
    assert (how.output.stdout_bytes, how.output.stderr_bytes) == (10485760 + 6, 10485760 + 6)
    assert (len(how.output.stdout), len(how.output.stderr)) == (16 << 10, 16 << 10)
    assert how.output.stdout.endswith("xend x\n")
    assert how.output.stderr.endswith("yend y\n")
    assert took < BOUND_S


def test_an_endless_flood_is_killed_like_any_other(run_once: Run, env: dict[str, str]) -> None:
    async def body(keeper: Keeper) -> None:
        process = await keeper.spawn(["yes"], HERE, env)
        await printed(process, 1 << 20)
        assert await process.kill()
        assert (await process.output()).stdout.endswith("y\n")

    run_once(body)


def test_output_can_be_read_while_it_runs(run_once: Run, env: dict[str, str]) -> None:
    async def body(keeper: Keeper) -> None:
        process = await keeper.spawn(sh("echo started; exec >&-; exec sleep 600"), HERE, env)
        output = await printed(process, 1)
        assert output.stdout == "started\n"
        assert not process.exited.done()

    run_once(body)


@pytest.mark.parametrize("hides", [(), ("and clears its environment",)])
def test_kill_finds_daemons(run: Run, env: dict[str, str], tmp_path: Path, hides: tuple[str, ...]) -> None:
    async def body(keeper: Keeper) -> None:
        process = await keeper.spawn(python(DAEMON + "time.sleep(600)", str(tmp_path / "pid"), *hides), HERE, env)
        daemon = await pid_in(tmp_path / "pid")
        assert alive(daemon)
        before = time.monotonic()
        assert await process.kill()
        assert time.monotonic() - before < BOUND_S
        assert process.exited.result().describe() == "killed by SIGKILL"
        assert not alive(daemon)
        assert await process.kill()

    run(body)


def test_a_bot_that_exits_leaves_no_daemon_and_waits_for_none(run: Run, env: dict[str, str], tmp_path: Path) -> None:
    async def body(keeper: Keeper) -> None:
        code = DAEMON + "\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.01)"
        process = await keeper.spawn(python(code, str(tmp_path / "pid")), HERE, env)
        daemon = await pid_in(tmp_path / "pid")
        assert (await ended(process)).code == 0
        await until(lambda: not alive(daemon))

    run(body)


def test_only_the_own_tree_is_killed(run_once: Run, env: dict[str, str], tmp_path: Path) -> None:
    async def body(keeper: Keeper) -> None:
        first, second = [
            await keeper.spawn(python(DAEMON + "time.sleep(600)", str(tmp_path / name)), HERE, env) for name in "ab"
        ]
        one, other = await pid_in(tmp_path / "a"), await pid_in(tmp_path / "b")
        await first.kill()
        assert not alive(one)
        assert alive(other)
        assert not second.exited.done()

    run_once(body)


def test_what_stops_itself_ignores_signals_or_multiplies_is_killed(run_once: Run, env: dict[str, str]) -> None:
    scripts = [
        "kill -STOP $$",
        "trap '' INT TERM HUP; while :; do sleep 600; done",
        "i=0; while [ $i -lt 200 ]; do setsid sleep 600 & i=$((i+1)); done; wait",
    ]

    async def body(keeper: Keeper) -> None:
        bots = [await keeper.spawn(sh(script), HERE, env) for script in scripts]
        await asyncio.sleep(0.2)
        before = time.monotonic()
        assert all(await asyncio.gather(*(bot.kill() for bot in bots)))
        assert time.monotonic() - before < BOUND_S

    run_once(body)


def test_r13_a_kill_and_an_exit_at_once_are_both_over(run_once: Run, env: dict[str, str]) -> None:
    async def body(keeper: Keeper) -> None:
        for _ in range(30):
            process = await keeper.spawn(sh("exit 0"), HERE, env)
            assert await process.kill()
            assert process.exited.done()

    run_once(body)


def test_many_spawns_leave_no_descriptor_and_no_zombie(run_once: Run, env: dict[str, str]) -> None:
    async def body(keeper: Keeper) -> None:
        ours, theirs = psutil.Process(), psutil.Process(keeper.pid)
        before = ours.num_fds(), theirs.num_fds()
        for _ in range(10):
            started = [await keeper.spawn(sh("sleep 600 & exit 0"), HERE, env) for _ in range(20)]
            assert all(await asyncio.gather(*(process.kill() for process in started)))
        with pytest.raises(SpawnError):
            await keeper.spawn(["no-such-command"], HERE, env)
        assert (ours.num_fds(), theirs.num_fds()) == before
        assert theirs.children(recursive=True) == []
        assert theirs.memory_info().rss < 40 << 20

    run_once(body)


def test_a_spawn_that_is_given_up_leaves_nothing(run_once: Run, env: dict[str, str]) -> None:
    async def body(keeper: Keeper) -> None:
        waiting = asyncio.create_task(keeper.spawn(sh("sleep 600"), HERE, env))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await keeper.ask({"do": "greet"})
        await until(lambda: not psutil.Process(keeper.pid).children())

    run_once(body)


def test_interrupts_do_not_end_the_keeper(run_once: Run, env: dict[str, str]) -> None:
    async def body(keeper: Keeper) -> Exit:
        assert os.getpgid(keeper.pid) != os.getpgrp()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.killpg(os.getpgid(keeper.pid), number)
        return await ended(await keeper.spawn(sh("kill -INT $$; sleep 600"), HERE, env))

    assert run_once(body).describe() == "killed by SIGINT"


def test_bots_die_with_their_keeper_and_it_is_told(run: Run, env: dict[str, str], tmp_path: Path) -> None:
    async def body(keeper: Keeper) -> None:
        code = DAEMON + "time.sleep(600)"
        process = await keeper.spawn(python(code, str(tmp_path / "pid")), HERE, env)
        daemon = await pid_in(tmp_path / "pid")
        asking = asyncio.create_task(keeper.ask({"do": "greet"}))
        os.kill(keeper.pid, signal.SIGKILL)
        async with asyncio.timeout(BOUND_S):
            assert str(await keeper.lost).startswith("the keeper of the bot processes is gone: killed by SIGKILL - ")
        await asyncio.gather(asking, return_exceptions=True)
        assert (await ended(process)).describe() == "end not seen"
        assert await process.kill()
        assert (await process.output()).stdout == ""
        with pytest.raises(ArenaError, match="keeper"):
            await keeper.spawn(sh("exit 0"), HERE, env)
        assert not alive(daemon)
        await until(lambda: not alive(process.pid))

    run(body)


def test_close_ends_a_keeper_that_is_stuck(run_once: Run, env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "KILL_S", 0.2)

    async def body(keeper: Keeper) -> None:
        process = await keeper.spawn(sh("sleep 600"), HERE, env)
        os.kill(keeper.pid, signal.SIGSTOP)
        assert not await process.kill()
        await keeper.close()
        assert process.exited.done()
        assert not keeper.lost.done()

    run_once(body)


def test_close_resolves_every_exit(run: Run, env: dict[str, str]) -> None:
    async def body(keeper: Keeper) -> None:
        started = [await keeper.spawn(sh("sleep 600"), HERE, env) for _ in range(5)]
        await keeper.close()
        assert [process.exited.result().describe() for process in started] == ["killed by SIGKILL"] * 5

    run(body)


def test_a_keeper_nobody_attached_to_ends() -> None:
    keeper = Keeper.start()
    asyncio.run(keeper.close())
    assert not psutil.pid_exists(keeper.pid)


COMMAND = f"""
import asyncio, sys
from pathlib import Path
from arena_server.launching.processes import Keeper

async def main(keeper):
    await keeper.attach()
    await keeper.spawn([sys.executable, "-S", "-c", {DAEMON + "time.sleep(600)"!r}, sys.argv[1]], Path("/"), {{}})
    await keeper.spawn(["/bin/sh", "-c", "sleep 600 & sleep 600"], Path("/"), {{}})
    print(keeper.pid, keeper._token, flush=True)
    await asyncio.sleep(600)

asyncio.run(main(Keeper.start()))
"""


@pytest.mark.parametrize("group", [False, True], ids=["the command", "its whole group"])
def test_nothing_outlives_a_kill_of_the_command(tmp_path: Path, *, group: bool) -> None:
    argv = [sys.executable, "-c", COMMAND, str(tmp_path / "pid")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, process_group=0) as command:
        assert command.stdout is not None
        keeper, token = command.stdout.readline().split()
        try:
            asyncio.run(pid_in(tmp_path / "pid"))
            asyncio.run(until(lambda: len(marked(token)) >= 4))  # a shell takes a moment to start its child
        finally:
            (os.killpg if group else os.kill)(command.pid, signal.SIGKILL)
        command.wait(BOUND_S)
    asyncio.run(until(lambda: not marked(token) and not alive(int(keeper))))


def test_the_keeper_is_light() -> None:
    heavy = {"grpc", "asyncio", "typing", "socket", "subprocess", "threading", "logging", "arena_server.model"}
    code = "import sys; sys.path.append(sys.argv[1]); import arena_server.launching.keeper; print(*sys.modules)"
    argv = [sys.executable, "-I", "-S", "-c", code, processes._SOURCE_ROOT]
    loaded = subprocess.check_output(argv, text=True).split()
    assert not heavy & set(loaded)
    assert len(loaded) < 90


def test_elsewhere_it_says_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(ArenaError, match="darwin - organisers need Linux"):
        Keeper.start()
