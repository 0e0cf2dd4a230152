"""A standing server and bots that join it, as real processes."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import trustme
from command import ARENA, FIRST_LEGAL, arena, bot, environment

PATIENCE = 60.0
"""Seconds for anything to happen on a slow machine."""


def wait_for(look: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.1)
    return found


class Server:
    """`arena serve` in a folder."""

    def __init__(self, folder: Path, *options: str, port: int = 0) -> None:
        self.folder = folder
        self._log = folder / f"serve{time.monotonic_ns()}.log"
        with self._log.open("wb") as log:
            listen = ("--listen", f"127.0.0.1:{port}", "--time", "2s")
            command = [*ARENA, "serve", *listen, *options]
            self.process = subprocess.Popen(command, cwd=folder, env=environment(), stdout=log, stderr=log)
        self.begun = wait_for(lambda: self.events("serving"), f"{self.text()}")[0]
        self.address: str = self.begun["addresses"][0]

    def text(self) -> str:
        return self._log.read_text()

    def events(self, kind: str) -> list[dict[str, Any]]:
        assert self.process.poll() in (None, 0, -signal.SIGKILL), self.text()  # a test may have killed it
        lines = [json.loads(line) for line in self.text().splitlines() if line.startswith("{") and line.endswith("}")]
        return [line for line in lines if line["event"] == kind]

    def games(self, *names: str) -> list[dict[str, Any]]:
        """Those that were played by all of these, which are names with versions."""
        return [game for game in self.events("game") if {*names} <= {*game["bots"]}]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


class Joined:
    """`arena join` of a bot: the one of that path, else one in one file whose `choose` is that body."""

    def __init__(
        self, folder: Path, name: str, server: str, token: str, *options: str, body: str = FIRST_LEGAL, path: str = ""
    ) -> None:
        self._log = folder / f"{name}{time.monotonic_ns()}.log"
        joins = path or bot(folder, name, body)
        with self._log.open("wb") as log:
            command = [*ARENA, "join", joins, "--server", server, *options]
            given = environment(ARENA_TOKEN=token)
            self.process = subprocess.Popen(command, cwd=folder, env=given, stdout=log, stderr=log)

    def text(self) -> str:
        return self._log.read_text()

    def wait(self) -> int:
        return self.process.wait(PATIENCE)


class Site:
    """A folder with a database, and what runs there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.servers: list[Server] = []
        self.joined: list[Joined] = []

    def token(self, name: str, owner: str = "") -> str:
        done = arena("bots", "add", name, "--owner", owner or f"owner-{name}", "--json", cwd=self.folder)
        assert done.returncode == 0, done.stderr
        return str(json.loads(done.stdout)["token"])

    def serve(self, *options: str, port: int = 0) -> Server:
        self.servers.append(Server(self.folder, *options, port=port))
        return self.servers[-1]

    def serve_tls(self, *options: str) -> Server:
        """A server over TLS for which `ca.pem` vouches."""
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self.folder / "ca.pem")
        issued = authority.issue_cert("127.0.0.1")
        issued.cert_chain_pems[0].write_to_path(self.folder / "cert.pem")
        issued.private_key_pem.write_to_path(self.folder / "key.pem")
        return self.serve("--tls-cert", "cert.pem", "--tls-key", "key.pem", *options)

    def join(
        self, name: str, server: str, token: str, *options: str, body: str = FIRST_LEGAL, path: str = ""
    ) -> Joined:
        self.joined.append(Joined(self.folder, name, server, token, *options, body=body, path=path))
        return self.joined[-1]

    def close(self) -> None:
        processes = [one.process for one in self.joined] + [one.process for one in self.servers]
        for process in processes:
            if process.poll() is None:
                process.terminate()
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()
