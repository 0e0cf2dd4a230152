"""What `arena serve` refuses before it binds or stores anything."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import trustme
from requirements import require

from arena_server.model import UserError
from arena_server.service.serving import Serving
from arena_server.service.settings import read


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"listen": ["127.0.0.1:99999"]}, "not an address: '127.0.0.1:99999' - write HOST:PORT, with a port from 0 to"),
        ({"listen": ["127.0.0.1:²"]}, "not an address"),
        ({"listen": [":5400"]}, "not an address"),
        ({"listen": []}, r"nobody could reach this server: listen = \[\] - give an address, or a socket"),
        ({"closing_wait": float("inf")}, "wrong setting closing_wait: inf - Input should be a finite number"),
        ({"grace": float("inf")}, "finite"),
        ({"retry_after": float("inf")}, "finite"),
        ({"tls_key": "key.pem"}, "half of a certificate"),
    ],
)
def test_a_wrong_value_is_told(given: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError, match=told):
        read(None, given)


def test_a_socket_is_a_way_in() -> None:
    assert read(None, {"listen": [], "socket": "socket"}).listen == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("listn = []", "unknown setting: 'listn' - did you mean listen[?] settings: admission, "),
        ('[[bots]]\nbot = "random"\noptoins = {}', "unknown setting: 'bots.0.optoins' - did you mean options[?]"),
        ("closing_wait = inf", "wrong setting closing_wait: inf"),
    ],
)
def test_a_mistake_in_the_file_is_told(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "arena.toml").write_text(text)
    with pytest.raises(UserError, match=told):
        read(tmp_path / "arena.toml", {})


def test_a_misspelt_variable_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_SERVE_SEASON", "2027")
    monkeypatch.setenv("ARENA_SERVER", "127.0.0.1:5400")  # of those who join
    assert read(None, {}).season == "2027"
    monkeypatch.setenv("ARENA_SERVE_LISEN", "[]")
    with pytest.raises(UserError, match="unknown setting in the environment: ARENA_SERVE_LISEN - did you mean listen"):
        read(None, {})


def test_the_same_bot_twice_is_told() -> None:
    with pytest.raises(UserError, match=r"the same bot twice: random 1.0 - name each bot once, or give one of them"):
        Serving.of(read(None, {"bots": ["random", "greedy", "random"]}))
    assert len(Serving.of(read(None, {"bots": ["mcts:playouts=10", "mcts:playouts=20"]})).bots) == 2


@pytest.fixture
def pems(tmp_path: Path) -> Path:
    """A folder with a certificate, its key, and what is none."""
    issued, other = trustme.CA().issue_cert("127.0.0.1"), trustme.CA().issue_cert("127.0.0.1")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "cert")
    issued.private_key_pem.write_to_path(tmp_path / "key")
    other.private_key_pem.write_to_path(tmp_path / "foreign")
    (tmp_path / "cut").write_bytes((tmp_path / "cert").read_bytes()[:300])
    (tmp_path / "text").write_text("words\n")
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("certificate", "key", "told"),
    [
        ("cert", "foreign", "the private key cannot be used: it belongs to another certificate: .*/foreign - "),
        ("cert", "text", "the private key cannot be used: it is no PEM, or broken: .*/text - "),
        ("cert", "nowhere", "cannot read the private key: No such file or directory: .*/nowhere - "),
        ("cert", "folder", "cannot read the private key: Is a directory: .*/folder - "),
        ("cut", "key", "the certificate cannot be used: it is no PEM, or broken: .*/cut - "),
        ("text", "key", "the certificate cannot be used: it is no PEM, or broken: .*/text - "),
        ("nowhere", "key", "cannot read the certificate: No such file or directory: .*/nowhere - "),
    ],
)
def test_a_certificate_that_cannot_be_used_is_told(pems: Path, certificate: str, key: str, told: str) -> None:
    assert read(None, {"tls_cert": pems / "cert", "tls_key": pems / "key"}).tls_key == pems / "key"
    with pytest.raises(UserError, match=told):
        read(None, {"tls_cert": pems / certificate, "tls_key": pems / key})


def test_nobody_is_asked_for_a_passphrase(pems: Path) -> None:
    openssl = require("openssl")
    command = [openssl, "pkey", "-in", "key", "-aes256", "-passout", "pass:x", "-out", "locked"]
    subprocess.run(command, cwd=pems, timeout=60, check=True)
    with pytest.raises(UserError, match=r"the private key is encrypted: .*/locked - "):
        read(None, {"tls_cert": pems / "cert", "tls_key": pems / "locked"})
