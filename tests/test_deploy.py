"""The files for running it for a team, as far as parsers can check them: nothing here was started in a container."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.net import ssrf_guard
from agent.settings.config import SETTINGS
from agent.store.backup import restore_backup, write_backup
from agent.store.database import Store

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
SERVICES, CLUSTER = (
    yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))["services"]
    for name in ("compose.yaml", "cluster.yaml")
)


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, continued lines joined."""
    text = re.sub(r"\\\n\s*", " ", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    lines = (line.strip() for line in text.splitlines())
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in lines if line and line[0] != "#"]


def test_the_image_has_locked_packages_no_build_tools_and_no_root() -> None:
    parsed = instructions()
    stages = [n for n, (word, _) in enumerate(parsed) if word == "FROM"]
    build, final = parsed[stages[0] : stages[1]], parsed[stages[1] :]
    assert any("--require-hashes" in rest for _, rest in build)
    assert not any(
        tool in rest for _, rest in final for tool in ("apt-get", "build-essential", "pip install")
    )
    assert [rest for word, rest in final if word == "USER"] == ["10001:10001"]
    assert max(n for n, (word, _) in enumerate(final) if word == "COPY") < [word for word, _ in final].index(
        "USER"
    )
    assert not [rest for word, rest in parsed if word in ("ADD", "ARG")]


def test_what_the_image_copies_exists_and_is_let_through() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    copied = [
        source
        for word, rest in instructions()
        if word == "COPY" and "--from" not in rest
        for source in rest.split()[:-1]
    ]
    assert ignored[1] == "*" and {f"!{source}" for source in copied} <= set(ignored)
    assert all((ROOT / source).exists() for source in copied)
    assert not [source for source in copied if ".env" in source or source in (".", "data")]


@pytest.mark.parametrize("services", [SERVICES, CLUSTER], ids=["one server", "cluster"])
def test_every_container_is_read_only_without_rights_and_only_tls_is_published(
    services: dict[str, Any],
) -> None:
    for name, service in services.items():
        assert service["read_only"] and service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"] and not service.get("privileged"), name
    assert [name for name, service in services.items() if service.get("ports")] == ["proxy"]
    programs = {
        name: one for name, one in services.items() if name in ("touchstone", "web1", "web2", "worker")
    }
    told = {name for name, service in services.items() if service.get("env_file")}
    assert told == set(programs), "its secrets"
    for program in programs.values():
        assert program["network_mode"] == "service:egress" and "cap_add" not in program
        assert program["depends_on"]["egress"]["condition"] == "service_healthy", "never without its filter"
    mounted = [
        mount.split(":")[0][2:]
        for service in services.values()
        for mount in service["volumes"]
        if mount.startswith("./")
    ]
    assert mounted and all((DEPLOY / name).exists() for name in mounted)


def test_the_cluster_has_a_database_on_the_loopback_and_two_servers_that_drive_nothing() -> None:
    assert "listen_addresses=127.0.0.1" in CLUSTER["store"]["command"]
    assert CLUSTER["store"]["network_mode"] == "service:egress" and "ports" not in CLUSTER["store"]
    for name in ("web1", "web2", "worker"):
        own = CLUSTER[name]["environment"]
        assert "@127.0.0.1/" in own["DATABASE_URL"] and own["WORKERS"] == "0"
    waiting = [name for name, one in CLUSTER.items() if "web1" in one.get("depends_on", {})]
    assert waiting == ["web2", "worker"], "one process migrates at a time"
    ports = re.findall(r"egress:(\d+)", (DEPLOY / "Caddyfile.cluster").read_text(encoding="utf-8"))
    assert ports == ["8501", CLUSTER["web2"]["entrypoint"][-1]]
    assert "cookie touchstone_server" in (DEPLOY / "Caddyfile.cluster").read_text(encoding="utf-8")


def test_the_filter_refuses_every_private_network_before_it_accepts_the_web() -> None:
    text = (DEPLOY / "egress.nft").read_text(encoding="utf-8")
    rules = text[text.index("chain out") :]
    assert "policy drop" in rules and rules.index("@private4 reject") < rules.index("tcp dport")
    networks = [ip_network(found) for found in re.findall(r"[0-9a-f:.]+/\d+", text)]
    samples = """0.0.0.1 10.1.2.3 100.64.0.1 127.0.0.2 169.254.169.254 172.16.0.1 172.31.255.255 192.168.1.1 198.18.0.1
        224.0.0.1 255.255.255.255 ::1 fc00::1 fd00:ec2::254 fe80::1 ff02::1 ::ffff:10.0.0.1 64:ff9b::a00:1 2002:a00:1::"""
    for sample in map(ip_address, samples.split()):
        assert not ssrf_guard.is_public(sample)
        assert any(sample.version == one.version and sample in one for one in networks), sample
    for sample in map(ip_address, ("93.184.216.34", "1.1.1.1", "2606:4700::1111")):
        assert not any(sample.version == one.version and sample in one for one in networks), sample


def test_the_example_names_real_settings_and_holds_no_secret() -> None:
    lines = (DEPLOY / "env.example").read_text(encoding="utf-8").splitlines()
    given = dict(line.split("=", 1) for line in lines if line and line[0] != "#")
    assert set(given) - {"SITE_NAME", "POSTGRES_PASSWORD", "AFFINITY_SECRET"} <= set(SETTINGS)
    assert not [
        name
        for name, value in given.items()
        if name.endswith(("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")) and value
    ]


@pytest.mark.parametrize("name", ["Caddyfile", "Caddyfile.cluster"])
def test_browsers_are_told_to_come_by_tls_alone(name: str) -> None:
    text = (DEPLOY / name).read_text(encoding="utf-8")
    assert re.search(r'header Strict-Transport-Security "max-age=\d{8}"', text)


def test_the_unit_installs_a_changed_lock_before_it_starts_and_shows_that_no_secret() -> None:
    unit = (DEPLOY / "touchstone.service").read_text(encoding="utf-8")
    [before] = re.findall(r"^ExecStartPre=(.*)$", unit, re.MULTILINE)
    assert before.startswith("+/usr/bin/env -i ") and "make -C /opt/touchstone install LOCKED=1" in before
    assert "umask 022" in before, "the service reads what root installs"


def test_the_way_back_brings_an_older_store_back_as_it_was(tmp_path: Path) -> None:
    folder, saved = tmp_path / "data", tmp_path / "before.zip"
    folder.mkdir()
    with sqlite3.connect(folder / "touchstone.db") as older:
        older.execute("CREATE TABLE of_an_older_version (kept TEXT)")
    older.close()
    write_backup(folder, saved)
    (folder / "touchstone.db").unlink()
    Store(f"sqlite:///{folder / 'touchstone.db'}").close()  # the upgrade
    restored = restore_backup(saved, folder, force=True)
    with sqlite3.connect(folder / "touchstone.db") as back:
        assert back.execute("SELECT name FROM sqlite_master").fetchall() == [("of_an_older_version",)]
    assert restored.kept and (restored.kept / "touchstone.db").exists()


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_the_unit_is_one_that_systemd_reads() -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", str(DEPLOY / "touchstone.service")],
        capture_output=True,
        text=True,
        check=False,
    )
    faults = [line for line in done.stderr.splitlines() if "touchstone.service" in line]
    assert [line for line in faults if "is not executable" not in line] == []
