"""What is settled before the server starts: here that it asks nobody on the internet for its own address."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from streamlit.testing.v1 import AppTest

from agent.settings.config import ROOT, read_config
from agent.settings.saved import make_key
from pages.widgets.shell import client, server

AUDITED = """
import socket, sys
asked = []
def note(event, given):
    if event == "socket.getaddrinfo" or (event == "socket.connect" and given[0].type == socket.SOCK_STREAM):
        asked.append(str(given[-1 if event == "socket.connect" else 0]))
        raise OSError("this test has no network")
sys.addaudithook(note)
from streamlit import config
config.set_option("server.headless", True)
from pages.widgets.shell import server
if sys.argv[1] == "ours":
    server.prepare_start()
config.set_option("server.address", "0.0.0.0")
from streamlit.web import bootstrap
from streamlit.web.server import server_util
bootstrap._print_url(False)
assert not server_util.is_url_from_allowed_origins("http://strange.example:8501")
print(f"ASKED {asked}")
"""


def look(which: str) -> str:
    here = {"PYTHONPATH": str(ROOT), "STREAMLIT_SERVER_ADDRESS": "127.0.0.1"}
    command = [sys.executable, "-c", AUDITED, which]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **here}, capture_output=True, text=True, check=True
    )
    return done.stdout.rpartition("ASKED ")[2].strip()


@pytest.mark.slow
def test_streamlit_asks_nobody_for_the_address_of_this_machine():
    """A foreign Origin made it ask checkip.amazonaws.com, and so did its banner."""
    assert "amazonaws" in look("streamlit's own")
    assert look("ours") == "[]"


@pytest.mark.parametrize("fault", ["wrong key", "damaged store"])
def test_a_start_that_is_not_possible_is_told_in_one_line(fault: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", make_key())
    config = read_config()
    config.saved.save("BRAVE_API_KEY", "key-1234")
    client.close()
    if fault == "wrong key":
        monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", make_key())
    else:
        (config.data_folder / "touchstone.db").write_bytes(b"no database " * 1000)
    told = {"wrong key": "BRAVE_API_KEY in .* cannot be decrypted", "damaged store": "is damaged .* restore"}
    with pytest.raises(SystemExit, match=told[fault]):
        server.prepare_start()


def test_a_wrong_key_never_replaces_the_secret_of_the_sign_ins(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", make_key())
    config = read_config()
    config.saved.save("OIDC_COOKIE_SECRET", "a cookie secret that signs every sign-in")
    kept = config.saved.path.read_text()
    client.close()
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", make_key())
    for name in ("OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_DISCOVERY_URL"):
        monkeypatch.setenv(name, "https://login.example/x")
    monkeypatch.setenv("OIDC_REDIRECT_URI", "http://localhost:8501/oauth2callback")
    with pytest.raises(SystemExit, match=r"OIDC_COOKIE_SECRET in .* cannot be decrypted"):
        server.prepare_start()
    assert config.saved.path.read_text() == kept


def test_what_the_server_writes_is_for_its_own_user_alone():
    server.prepare_start()
    assert (read_config().data_folder / "touchstone.db").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("fault", ["StoreError", "ValueError"])
def test_a_screen_that_fails_tells_what_can_be_mended_and_nothing_else(fault: str):
    def draw(fault: str) -> None:
        from agent.errors import StoreError
        from pages.widgets.shell import server

        made = {"StoreError": StoreError, "ValueError": ValueError}[fault]
        server.handle_script_error(made("the database a.db is damaged"))

    (shown,) = AppTest.from_function(draw, args=(fault,)).run().error
    assert ("a.db is damaged" in shown.value.replace("\\", "")) is (fault == "StoreError")
