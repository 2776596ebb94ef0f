"""What is settled before the server starts: where it listens, by which names it is known, and its login."""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from streamlit import config as streamlit_config
from streamlit import net_util
from streamlit.runtime.app_session import AppSession

from agent.accounts.sign_in import bound_provider_client
from agent.bot.routes import is_loopback
from agent.errors import UsageError
from agent.settings.config import Config

COOKIE_SECRET_BYTES = 48
MIN_COOKIE_SECRET_CHARS = 32


def check_address(config: Config) -> None:
    """Raise UsageError when others could reach a server without a login, unless the settings say so in as
    many words. The address is Streamlit's, whatever set it: command line, environment, config.toml."""
    address = st.get_option("server.address") or "0.0.0.0"
    if config.has_login or config.ALLOW_PUBLIC_WITHOUT_LOGIN:
        return
    if is_loopback(address) and config.ALLOWED_HOSTS:
        raise UsageError(
            f"ALLOWED_HOSTS lets others call this server as {config.ALLOWED_HOSTS[0]}, and it has no login: "
            "set one up (docs/guide/people.md), or set ALLOW_PUBLIC_WITHOUT_LOGIN=true."
        )
    if is_loopback(address):
        return
    raise UsageError(
        f"Touchstone does not start on {address} without a login: everybody who reaches it could read and "
        "change all. Start it on 127.0.0.1, set up a login (docs/guide/people.md), or set "
        "ALLOW_PUBLIC_WITHOUT_LOGIN=true."
    )


def allow_own_names(config: Config) -> None:
    """Let Streamlit answer under the names of ALLOWED_HOSTS and of the login's address too."""
    names = [*(st.get_option("server.allowedHosts") or []), *config.ALLOWED_HOSTS]
    if config.has_login:
        names.append(urlsplit(config.OIDC_REDIRECT_URI.replace("{port}", "0")).hostname or "")
    streamlit_config.set_option("server.allowedHosts", list(dict.fromkeys(filter(None, names))))


def forbid_address_lookup() -> None:
    """Keep Streamlit from asking a server on the internet for this machine's public address: it does so to
    print it, and before it refuses a page of another origin; no option of its switches that off."""
    net_util.get_external_ip = lambda: None


def ignore_needless_messages() -> None:
    """Answer with nothing what Streamlit's tools for developers send, and anybody may: it would look through
    the checkout while everybody waits, empty all caches, run screens when a file changes."""
    for asked in ("git_information", "clear_cache", "set_run_on_save"):
        setattr(AppSession, f"_handle_{asked}_request", lambda *_: None)


def make_login_secrets(config: Config) -> dict[str, Any] | None:
    """What Streamlit's login needs to know; None without a login. Raises UsageError."""
    if not config.has_login:
        return None
    if not urlsplit(config.OIDC_REDIRECT_URI).path.endswith("/oauth2callback"):
        raise UsageError("OIDC_REDIRECT_URI must end with /oauth2callback, as the provider knows it")
    cookie_secret = config.OIDC_COOKIE_SECRET
    if not cookie_secret:
        cookie_secret = secrets.token_urlsafe(COOKIE_SECRET_BYTES)
        config.saved.save("OIDC_COOKIE_SECRET", cookie_secret)
    if len(cookie_secret) < MIN_COOKIE_SECRET_CHARS:
        raise UsageError(f"OIDC_COOKIE_SECRET needs at least {MIN_COOKIE_SECRET_CHARS} random characters")
    bound_provider_client(config.OIDC_DISCOVERY_URL)
    return {
        "auth": {
            "redirect_uri": config.OIDC_REDIRECT_URI,
            "cookie_secret": cookie_secret,
            "client_id": config.OIDC_CLIENT_ID,
            "client_secret": config.OIDC_CLIENT_SECRET,
            "server_metadata_url": config.OIDC_DISCOVERY_URL,
        }
    }
