"""What is settled before the server starts: where it may listen, its names, its login."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import streamlit as st
from streamlit import config as streamlit_config

from agent.errors import UsageError
from agent.settings import config
from agent.settings.config import read_config
from pages.widgets.shell import start_checks
from tests.web.login import LOGIN


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Streamlit's options, as a test sets them."""
    values: dict[str, object] = {"server.address": "127.0.0.1", "server.allowedHosts": ["localhost"]}
    monkeypatch.setattr(st, "get_option", values.__getitem__)
    monkeypatch.setattr(streamlit_config, "set_option", values.__setitem__)
    return values


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "localhost", "::1", "[::1]"])
def test_this_machine_alone_needs_no_login(address: str, options: dict[str, object]) -> None:
    options["server.address"] = address
    start_checks.check_address(read_config())


@pytest.mark.parametrize(
    "address", [None, "", "0.0.0.0", "::", "192.0.2.7", "research.example.org", "127.0.0.1.example"]
)
def test_other_machines_need_a_login_or_a_setting_in_as_many_words(
    address: str | None, options: dict[str, object]
) -> None:
    options["server.address"] = address
    with pytest.raises(
        UsageError, match=r"127\.0\.0\.1, set up a login .* or set ALLOW_PUBLIC_WITHOUT_LOGIN=true"
    ):
        start_checks.check_address(read_config())
    start_checks.check_address(read_config({"ALLOW_PUBLIC_WITHOUT_LOGIN": "true"}))
    start_checks.check_address(read_config(LOGIN))


def test_names_for_others_need_a_login_too(options: dict[str, object]) -> None:
    named = {"ALLOWED_HOSTS": "research.lan"}
    with pytest.raises(UsageError, match=r"as research\.lan, and it has no login"):
        start_checks.check_address(read_config(named))
    start_checks.check_address(read_config({**named, "ALLOW_PUBLIC_WITHOUT_LOGIN": "true"}))
    start_checks.check_address(read_config({**named, **LOGIN}))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "environment"),
    [(["--server.address", "0.0.0.0"], {}), ([], {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0"})],
)
def test_the_server_does_not_start_on_a_public_address(
    arguments: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    known = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TOUCHSTONE_DATA": str(tmp_path), **environment}
    ended = subprocess.run(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", "0", *arguments],
        cwd=config.ROOT, env=known, capture_output=True, text=True, timeout=120, check=False
    )  # fmt: skip
    told = (ended.stdout + ended.stderr).strip().splitlines()
    assert ended.returncode != 0 and "does not start on 0.0.0.0 without a login" in told[-1]
    assert not any("Traceback" in line for line in told)


def test_the_names_of_the_settings_and_of_the_login_are_allowed(options: dict[str, object]) -> None:
    start_checks.allow_own_names(read_config({"ALLOWED_HOSTS": "research.lan"}))
    assert options["server.allowedHosts"] == ["localhost", "research.lan"]
    start_checks.allow_own_names(
        read_config({**LOGIN, "OIDC_REDIRECT_URI": "https://r.example/oauth2callback"})
    )
    assert options["server.allowedHosts"] == ["localhost", "research.lan", "r.example"]


def test_a_cookie_secret_is_made_once_and_kept() -> None:
    assert start_checks.make_login_secrets(read_config()) is None
    without = {**LOGIN, "OIDC_COOKIE_SECRET": ""}
    first = start_checks.make_login_secrets(read_config(without))
    second = start_checks.make_login_secrets(read_config({k: v for k, v in without.items() if v}))
    assert first == second and len(first["auth"]["cookie_secret"]) >= 64


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"OIDC_COOKIE_SECRET": "short"}, "32 random characters"),
        ({"OIDC_REDIRECT_URI": "https://r.example/callback"}, "end with /oauth2callback"),
    ],
)
def test_a_login_that_cannot_work_is_refused(wrong: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        start_checks.make_login_secrets(read_config(LOGIN | wrong))
