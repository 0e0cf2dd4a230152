"""Bots that come as a zip: unpacked into a cache, with nothing trusted."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from arena_server.model import UserError

MAX_BYTES = 256 << 20
"""Of all files together, unpacked."""
MAX_FILES = 10_000


def unpack(path: Path) -> Path:
    """Unpacks a bot's zip, once, and returns its folder; a single top folder in the zip is that folder.

    Raises:
        UserError: no zip, damaged, encrypted, too large, or a member with a link, an absolute path or ``..``.
    """
    try:
        with path.open("rb") as file:
            name = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"cannot read {path}", error.strerror or error, "check its permissions") from None
    folder = _cache() / name
    if not folder.exists():
        _unpack_into(path, folder)
    entries = list(folder.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


def _cache() -> Path:
    """The user's own folder for unpacked bots; a private temporary one where there is no home."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        folder = (Path(base) if base else Path.home() / ".cache") / "patchwork-arena" / "bots"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return Path(tempfile.mkdtemp(prefix="arena-bots-"))
    return folder if os.access(folder, os.W_OK) else Path(tempfile.mkdtemp(prefix="arena-bots-"))


def _unpack_into(path: Path, folder: Path) -> None:
    """Unpacks beside the folder and renames, so that a folder that exists is whole."""
    part = Path(tempfile.mkdtemp(dir=folder.parent, prefix="part-"))
    try:
        with zipfile.ZipFile(path) as archive:
            _extract(archive, part, path)
        part.rename(folder)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        raise UserError(f"{path} is not a zip that can be read", error, "make it again, with plain deflate") from None
    except OSError as error:
        if not folder.exists():  # else another one was quicker
            raise UserError(f"cannot unpack {path} into {part}", error.strerror or error, "make room there") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _extract(archive: zipfile.ZipFile, folder: Path, path: Path) -> None:
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) > MAX_FILES:
        raise UserError(f"{path} holds too many files", len(members), f"at most {MAX_FILES}")
    left = MAX_BYTES
    names: set[str] = set()
    for member in members:
        if member.filename in names:
            raise UserError(f"{path}: the same file twice", repr(member.filename), "make it again")
        names.add(member.filename)
        _refuse_unsafe(member, path)
        left -= _write(archive, member, folder, left)
        if left < 0:
            raise UserError(f"{path} is too large unpacked", member.filename, f"at most {MAX_BYTES >> 20} MiB in all")


def _refuse_unsafe(member: zipfile.ZipInfo, path: Path) -> None:
    name, mode = member.filename, member.external_attr >> 16
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or parts[0] == "/" or ".." in parts or ":" in name:
        raise UserError(f"{path}: a file outside the bot's folder", repr(name), "use relative paths without '..'")
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise UserError(f"{path}: not a plain file", repr(name), "put files in it, no links")
    if member.flag_bits & 1:
        raise UserError(f"{path} is encrypted", repr(name), "make it without a password")


def _write(archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, bound: int) -> int:
    """Writes one file and returns its size; stops soon after the bound, whatever the zip claims."""
    target = folder / member.filename.replace("\\", "/")
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with archive.open(member) as source, target.open("xb") as file:
        while written <= bound and (chunk := source.read(1 << 16)):
            written += file.write(chunk)
    if member.external_attr >> 16 & stat.S_IXUSR:
        target.chmod(0o755)
    return written
