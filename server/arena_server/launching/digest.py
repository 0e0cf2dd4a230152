"""What a bot is made of: the files that count, and their digest."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from arena_server.launching.manifest import FILE_NAME
from arena_server.model import UserError

_VERSION = b"arena bot 1\n"


def digest(folder: Path, globs: Sequence[str] = ()) -> str:
    """SHA-256 in hex over the relative paths, sizes and contents of a bot's files.

    The same on any machine: neither the folder's place nor times nor permissions count. Hidden files, ``__pycache__``
    and ``*.pyc`` never count, ``bot.toml`` always does. A symbolic link counts as its text and is not followed.

    Args:
        folder: the bot's folder, or its one file.
        globs: what counts; ``**`` crosses folders, a folder stands for all in it; everything where empty.

    Raises:
        UserError: a glob that matches nothing, a file that cannot be read, or one that is no file, folder or link.
    """
    try:
        return _digest(folder, globs)
    except OSError as error:
        what = f"cannot read {error.filename}"
        raise UserError(what, error.strerror or error, "a bot's files must be readable") from None


def _digest(folder: Path, globs: Sequence[str]) -> str:
    if folder.is_dir():
        base, paths = folder, _chosen(list(_walk(folder)), globs, folder)
    else:
        base, paths = folder.parent, [folder.name]
    total = hashlib.sha256(_VERSION)
    for path in sorted(paths, key=os.fsencode):
        _add(total, base / path, path)
    return total.hexdigest()


def _walk(folder: Path) -> Iterator[str]:
    """Relative paths of what may count, ``/`` between folders."""
    prefixes = [""]  # no recursion: an author may nest deeper than Python
    while prefixes:
        prefix = prefixes.pop()
        for entry in os.scandir(folder / prefix):
            if entry.name.startswith(".") or entry.name == "__pycache__" or entry.name.endswith(".pyc"):
                continue
            if entry.is_dir(follow_symlinks=False):
                prefixes.append(f"{prefix}{entry.name}/")
            else:
                yield prefix + entry.name


def _chosen(paths: list[str], globs: Sequence[str], folder: Path) -> list[str]:
    if not globs:
        return paths
    chosen = {FILE_NAME} & set(paths)
    for glob in globs:
        pattern = _pattern(glob)
        found = [path for path in paths if pattern.fullmatch(path)]
        if not found:
            raise UserError(f"{folder / FILE_NAME}: a glob of files matches nothing", repr(glob), "mend or remove it")
        chosen.update(found)
    return list(chosen)


def _pattern(glob: str) -> re.Pattern[str]:
    """What a glob matches; also what lies in a folder that it matches."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    words = re.split(r"(\*\*/|\*\*|\*|\?)", glob.removeprefix("./").rstrip("/"))
    return re.compile("".join(parts.get(word, re.escape(word)) for word in words) + "(?:/.*)?", re.DOTALL)


def _add(total: hashlib._Hash, path: Path, name: str) -> None:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        _add_entry(total, b"link", name, os.fsencode(path.readlink()))
    elif stat.S_ISREG(mode):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").digest()
            _add_entry(total, b"file %d" % file.tell(), name, content)
    else:
        raise UserError("neither a file, a folder nor a link", path, "take it out of the bot's folder")


def _add_entry(total: hashlib._Hash, kind: bytes, name: str, content: bytes) -> None:
    for part in (kind, os.fsencode(name), content):
        total.update(len(part).to_bytes(8, "big") + part)
