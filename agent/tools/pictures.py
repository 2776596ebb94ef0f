"""A picture that somebody sent along: fetched through the guard, hop by hop, within a time, a size and a few tries. Shows it to nobody.

What goes wrong comes back as a `Got` with a sentence; only Signals are raised. Its kind is told by its first bytes, not by its name.
A person sent it with their message, so it is fetched as their browser would: robots.txt, which speaks to crawlers, is not asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urljoin

import requests
from requests.cookies import RequestsCookieJar
from urllib3.exceptions import HTTPError

from agent.config import Config
from agent.tools import answers
from agent.tools.guard import Forbidden, Guard, Unreachable
from agent.tools.sockets import watching
from agent.tools.watch import Late, Watch
from agent.tools.wire import GuardedAdapter, get

MAX_BYTES = 8_000_000
HOPS = 3
_CHUNK = 64 * 1024
_REDIRECTS = (301, 302, 303, 307, 308)
_AGAIN = (408, 425, 429, 500, 502, 503, 504)
_KINDS = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF87a", "image/gif"), (b"GIF89a", "image/gif"))


@dataclass(frozen=True)
class Got:
    """A picture, or in `detail` why there is none. `again`: the same may succeed in a moment."""

    url: str
    media_type: str = ""
    data: bytes = field(default=b"", repr=False)
    sha256: str = ""
    detail: str = ""
    again: bool = False


class Pictures:
    """Fetches pictures; shared by all requests and threads."""

    def __init__(self, config: Config, *, timeout_s: float, retries: int) -> None:
        self._guard = Guard(config.words("FETCH_ALLOW"))
        self._adapter = GuardedAdapter(self._guard)
        self._timeout_s, self._tries = timeout_s, retries + 1

    def fetch(self, url: str, checkpoint: Callable[[], None] = lambda: None) -> Got:
        """The picture at an address. Each of its tries may take the timeout; what cannot pass is not tried again."""
        got = Got(url, detail="It was never asked for.")
        for _ in range(self._tries):
            checkpoint()
            got = self._once(url, checkpoint)
            if not got.again:
                break
        return got

    def close(self) -> None:
        """Let go of kept connections."""
        self._adapter.close()

    def _once(self, url: str, checkpoint: Callable[[], None]) -> Got:
        watch = Watch(self._timeout_s, checkpoint)
        try:
            with watching(watch):
                return self._follow(url, watch)
        except Forbidden as refusal:
            return Got(url, detail=str(refusal))
        except Late:
            return Got(url, detail=f"It took longer than {self._timeout_s:g} s.", again=True)
        except Unreachable as gone:
            return Got(url, detail=str(gone), again=True)
        except (requests.RequestException, HTTPError, OSError, ValueError) as error:
            return Got(url, detail=answers.transport(error)[1], again=True)

    def _follow(self, url: str, watch: Watch) -> Got:
        here, cookies = url, RequestsCookieJar()
        for _ in range(HOPS + 1):
            here = self._guard.admit(here)
            watch.tick()
            response = get(self._adapter, here, cookies)
            try:
                if response.status_code not in _REDIRECTS:
                    return _taken(url, response, watch)
                here = urljoin(here, response.headers.get("Location", ""))
            finally:
                response.close()
        return Got(url, detail="Its address kept sending us on.")


def _taken(url: str, response: requests.Response, watch: Watch) -> Got:
    if response.status_code != 200:
        return Got(url, detail=f"Its server answered {response.status_code}.", again=response.status_code in _AGAIN)
    body = bytearray()
    for chunk in response.raw.stream(_CHUNK, decode_content=True):
        watch.tick()
        body += chunk
        if len(body) > MAX_BYTES:
            return Got(url, detail=f"It is larger than {MAX_BYTES // 1_000_000} MB.")
    data = bytes(body)
    if not (kind := media_type(data)):
        return Got(url, detail="What came is no PNG, JPEG, GIF or WebP picture.")
    return Got(url, kind, data, hashlib.sha256(data).hexdigest())


def media_type(data: bytes) -> str:
    """What kind of picture these bytes are; "" for none that a model is sent."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((name for start, name in _KINDS if data.startswith(start)), "")
