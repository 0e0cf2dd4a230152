"""A connection to PostgreSQL that is lost when it hurts: the work is committed, and nobody hears of it."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Deaf:
    """A proxy in front of the server's socket: once, the answer to the commit of some statement does not come through.

    Attributes:
        url: of the server itself.
        folder: where the proxy's socket is.
        statement: which one, by its beginning; nothing: none.
        asked: whether that commit is on its way.
        lost: whether it has happened.
    """

    url: str
    folder: Path
    statement: bytes = b""
    asked: bool = False
    lost: bool = False

    def __enter__(self) -> str:
        """The URL of the database through it."""
        before, _, folder = self.url.partition("host=")
        self.target = Path(folder) / ".s.PGSQL.5432"
        self._serve()
        return f"{before}host={self.folder}"

    def __exit__(self, *_: object) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _serve(self) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.folder / self.target.name))
        self.listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            server.connect(str(self.target))
            answers = threading.Thread(target=self._pump, args=(server, client), daemon=True)
            answers.start()
            self._pump(client, server)
            answers.join()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self.asked |= bool(self.statement) and self.statement in data
                if self.asked and not self.lost and b"C\0\0\0\x0bCOMMIT\0" in data:  # the server's answer
                    self.lost = True
                    break
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
