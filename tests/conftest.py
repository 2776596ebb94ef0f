"""What every test gets: an environment without keys, a folder of its own, and no way out to the network."""

from __future__ import annotations

import ipaddress
import os
import sys

import pytest

from agent import config

CLOSED = [setting.name for setting in config.SETTINGS]


@pytest.fixture(autouse=True)
def _own_environment(tmp_path, monkeypatch):
    for name in CLOSED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(config, "dotenv_values", lambda _path: {})
    monkeypatch.setenv("TOUCHSTONE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("OLLAMA_URL", "")
    monkeypatch.setenv("EMBEDDING_MODEL", "off")
    monkeypatch.setenv("CONFIG_FILE", "")


def _no_way_out(event: str, arguments: tuple) -> None:
    """An audit hook: a connect to anything but this machine fails the test that made it."""
    if event != "socket.connect" or os.environ.get("TOUCHSTONE_TEST_ANY_CONNECT"):
        return
    address = arguments[1]
    if isinstance(address, tuple) and not _local(str(address[0])):
        raise AssertionError(f"a test tried to connect to {address}")


def _local(host: str) -> bool:
    if host in ("localhost", ""):
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


sys.addaudithook(_no_way_out)
