"""Hostile requests of every kind, made from the descriptors of the protocol alone: the same seed, the same bytes.

They are written as bytes, not as messages, so that they can be what no library would send: texts that are no UTF-8,
numbers of no enum, fields of the wrong type, several members of a oneof, and what is no message at all.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pkgutil import iter_modules

from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor

import arena.v1

TEXTS: tuple[bytes, ...] = (
    b"",
    b"\0",
    b"a\0b",
    b"\x1b[2J\x1b]0;owned\x07",
    "\x9b31m".encode(),
    "\u202egnp.exe\u2066".encode(),
    b"<script>alert(1)</script>",
    b"'; DROP TABLE game; --",
    b"../../etc/passwd",
    b"%s%n{0.__class__}${jndi:x}",
    b"=1+1",
    b"\r\n{}\r\n",
    b"\xed\xa0\x80",  # half of a surrogate pair
    b"\xff\xfe",
    b"\xc0\xaf",
    "\U0001f3f4\u200d\u0301".encode(),
    b"nan",
    b"-1",
    b"1e999",
    b"9" * 5_000,
    b"a" * 60_000,
    "\u00df".encode() * 20_000,
)
NUMBERS = (0, 1, 2, 3, 7, 100, 1_000, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)
DEEP = 4
"""Messages within messages."""
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_WIRE = {
    FieldDescriptor.TYPE_DOUBLE: _FIXED64,
    FieldDescriptor.TYPE_FIXED64: _FIXED64,
    FieldDescriptor.TYPE_SFIXED64: _FIXED64,
    FieldDescriptor.TYPE_FLOAT: _FIXED32,
    FieldDescriptor.TYPE_FIXED32: _FIXED32,
    FieldDescriptor.TYPE_SFIXED32: _FIXED32,
    FieldDescriptor.TYPE_STRING: _LENGTH,
    FieldDescriptor.TYPE_BYTES: _LENGTH,
    FieldDescriptor.TYPE_MESSAGE: _LENGTH,
}


def methods() -> Iterator[MethodDescriptor]:
    """Every method of the protocol, whatever service has it."""
    for module in sorted(found.name for found in iter_modules(arena.v1.__path__) if found.name.endswith("_pb2")):
        services = import_module(f"arena.v1.{module}").DESCRIPTOR.services_by_name
        for service in services.values():
            yield from service.methods


class Hostile:
    """Makes requests.

    Args:
        seed: of all that it makes.
        words: texts that mean something to the server, which are given now and then.
    """

    def __init__(self, seed: int, words: Sequence[str] = ()) -> None:
        self.random = random.Random(seed)
        self.words = list(words)

    def request(self, kind: Descriptor) -> bytes:
        """One that may be a message of that kind."""
        made = self.message(kind)
        return self.mutated(made) if self.random.random() < 0.2 else made

    def message(self, kind: Descriptor, depth: int = 0) -> bytes:
        """A message, or nearly one."""
        fields = [one for one in kind.fields if self.random.random() < 0.6]
        self.random.shuffle(fields)
        made = b"".join(self._field(field, depth) for field in fields)
        return made + self._unknown() if self.random.random() < 0.05 else made

    def text(self) -> bytes:
        """What a field for a text is given."""
        if self.words and self.random.random() < 0.6:
            return self.random.choice(self.words).encode()
        return self.random.choice(TEXTS)

    def mutated(self, content: bytes) -> bytes:
        """The same with a few bytes changed, taken, put in or cut off."""
        changed = bytearray(content)
        for _ in range(self.random.randint(1, 4)):
            at = self.random.randrange(len(changed) + 1)
            match self.random.randrange(4):
                case 0:
                    changed[at : at + 1] = self.random.randbytes(1)
                case 1:
                    del changed[at : at + self.random.randint(1, 8)]
                case 2:
                    changed[at:at] = self.random.randbytes(self.random.randint(1, 8))
                case _:
                    del changed[at:]
        return bytes(changed)

    def _field(self, field: FieldDescriptor, depth: int) -> bytes:
        many = self.random.choice((0, 1, 3, 300)) if field.is_repeated and depth < 2 else 1
        return b"".join(self._one(field, depth) for _ in range(many))

    def _one(self, field: FieldDescriptor, depth: int) -> bytes:
        wire = _WIRE.get(field.type, _VARINT)
        if self.random.random() < 0.03:
            wire = self.random.choice((_VARINT, _FIXED64, _LENGTH, _FIXED32))
        return _varint(field.number << 3 | wire) + self._value(field, wire, depth)

    def _value(self, field: FieldDescriptor, wire: int, depth: int) -> bytes:
        if wire == _VARINT:
            return _varint(self.random.choice(NUMBERS))
        if wire == _FIXED32:
            return self.random.choice((b"\0" * 4, b"\xff" * 4, self.random.randbytes(4)))
        if wire == _FIXED64:
            doubles: tuple[Callable[[], bytes], ...] = (
                lambda: struct.pack("<d", self.random.choice((0.0, -0.0, 1e308, float("nan"), float("inf")))),
                lambda: self.random.randbytes(8),
            )
            return self.random.choice(doubles)()
        if field.message_type is None:
            content = self.text()
        else:
            content = self.message(field.message_type, depth + 1) if depth < DEEP else b""
        return _varint(len(content)) + content

    def _unknown(self) -> bytes:
        """A field that no message has."""
        return _varint(self.random.randint(1_000, 18_000) << 3 | _LENGTH) + _varint(3) + b"abc"


def _varint(number: int) -> bytes:
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*made, number))
