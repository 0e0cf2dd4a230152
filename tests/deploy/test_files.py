"""The files of `deploy/` agree with each other and with what reads them; no container engine is needed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml
from requirements import require

from arena_server.service.serving import Serving
from arena_server.service.settings import read

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
TOML = tomllib.loads((DEPLOY / "arena.toml").read_text())
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
ARENA, PROMETHEUS = COMPOSE["services"]["arena"], COMPOSE["services"]["prometheus"]
DOCKERFILE = re.sub(r"\\\n", "", (DEPLOY / "Dockerfile").read_text())
STEPS = [line.split(maxsplit=1) for line in DOCKERFILE.splitlines() if line and not line.startswith("#")]


def steps(kind: str) -> list[str]:
    return [rest for name, rest in STEPS if name == kind]


def unit() -> dict[str, str]:
    parser = ConfigParser(strict=True, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(DEPLOY / "arena.service")
    return dict(parser["Service"])


def seconds(text: str) -> float:
    return float(text.removesuffix("s"))


def test_the_example_settings_are_settings(tmp_path: Path) -> None:
    issued = trustme.CA().issue_cert("127.0.0.1")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "cert")
    issued.private_key_pem.write_to_path(tmp_path / "key")
    pems: dict[str, Any] = {"tls_cert": tmp_path / "cert", "tls_key": tmp_path / "key"}
    settings = read(DEPLOY / "arena.toml", pems)
    for key in TOML.keys() - pems.keys() - {"bots"}:
        assert str(getattr(settings, key)) == str(TOML[key])
    serving = Serving.of(settings)  # checks all that can be checked before anything is started
    assert [entrant.name for entrant in serving.bots] == TOML["bots"]


def test_the_image_has_what_its_steps_ask_for() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    ours = [rest for rest in steps("COPY") if not rest.startswith("--from")]
    sources = {word for rest in ours for word in rest.split()[:-1]}
    assert sources == allowed
    assert all((ROOT / source).exists() for source in sources)
    packaged = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert {where for where in packaged["packages"]["find"]["where"] if where != "."} <= sources
    assert steps("USER")[-1].split(":") == ["10001", "10001"]
    assert shlex.split(steps("ENTRYPOINT")[0].strip("[]")) == ["arena"]
    assert steps("CMD")[0] == '["serve", "/etc/arena/arena.toml"]'


def test_the_health_check_asks_where_the_server_listens() -> None:
    (check,) = steps("HEALTHCHECK")
    assert f'"unix:{TOML["socket"]}"' in check
    assert '"/opt/arena/health.py"' in check


def test_compose_keeps_the_data_and_waits_for_the_games() -> None:
    places = {place.split(":")[1]: place.split(":")[0] for place in ARENA["volumes"]}
    assert places[str(Path(TOML["db"]).parent)] == "data"
    assert "data" in COMPOSE["volumes"]
    assert {TOML["tls_cert"], TOML["tls_key"], "/etc/arena/arena.toml"} <= places.keys()
    assert any(mount.startswith(f"{Path(TOML['socket']).parent}:uid=10001,gid=10001") for mount in ARENA["tmpfs"])
    port = TOML["listen"][0].rpartition(":")[2]
    assert f"{port}:{port}" in ARENA["ports"]
    assert seconds(ARENA["stop_grace_period"]) > TOML["grace"] + 10
    assert (DEPLOY / ARENA["build"]["context"] / ARENA["build"]["dockerfile"]).samefile(DEPLOY / "Dockerfile")


def test_prometheus_reads_the_metrics_from_beside_the_server() -> None:
    scraped = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"]
    assert scraped[0]["static_configs"][0]["targets"] == [f"127.0.0.1:{TOML['metrics']}"]
    assert PROMETHEUS["network_mode"] == "service:arena"
    assert "./prometheus.yml:/etc/prometheus/prometheus.yml:ro" in PROMETHEUS["volumes"]


def test_the_unit_lets_house_bots_finish() -> None:
    service = unit()
    assert service["KillMode"] == "mixed"
    assert float(service["TimeoutStopSec"]) > TOML["grace"] + 10
    assert f"/var/lib/{service['StateDirectory']}" == str(Path(TOML["db"]).parent)
    assert f"/run/{service['RuntimeDirectory']}" == str(Path(TOML["socket"]).parent)


def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    analyze = require("systemd-analyze")
    copy = tmp_path / "arena.service"
    copy.write_text((DEPLOY / "arena.service").read_text().replace("/opt/arena/bin/arena", sys.executable))
    for arguments in (["verify"], ["security", "--offline=true", "--threshold=20"]):
        done = subprocess.run([analyze, *arguments, copy], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "arena.service:" not in done.stderr, done.stderr  # a line that it does not know is a warning


@pytest.mark.parametrize("name", ["backup.py", "health.py"])
def test_scripts_are_in_the_image(name: str) -> None:
    assert any(f"deploy/{name}" in rest for rest in steps("COPY"))
