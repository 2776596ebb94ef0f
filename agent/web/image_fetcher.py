"""A picture that somebody sent along: fetched through the guard, hop by hop, within a time, a size and a few
tries. Shows it to nobody.

What goes wrong comes back as a `Got` with a sentence; only Signals are raised. Its kind is told by its first
bytes, not by its name. A person sent it with their message, so it is fetched as their browser would:
robots.txt, which speaks to crawlers, is not asked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urljoin

import requests
from requests.cookies import RequestsCookieJar
from urllib3.exceptions import HTTPError

from agent.config import Config
from agent.web import http_outcomes
from agent.web.deadline import Deadline, DeadlineExceeded
from agent.web.deadline_sockets import use_deadline
from agent.web.ssrf_guard import FetchRefused, HostUnreachable, SsrfGuard
from agent.web.transport import GuardedAdapter, send_get

MAX_BYTES = 8_000_000
MAX_REDIRECTS = 3
_CHUNK = 64 * 1024
_REDIRECT_STATUSES = (301, 302, 303, 307, 308)
_RETRY_STATUSES = (408, 425, 429, 500, 502, 503, 504)
_IMAGE_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


@dataclass(frozen=True)
class ImageResult:
    """A picture, or in `detail` why there is none. `again`: the same may succeed in a moment."""

    url: str
    media_type: str = ""
    data: bytes = field(default=b"", repr=False)
    sha256: str = ""
    detail: str = ""
    can_retry: bool = False


class ImageFetcher:
    """Fetches pictures; shared by all requests and threads."""

    def __init__(self, config: Config, *, timeout_s: float, retries: int) -> None:
        self._guard = SsrfGuard(config.FETCH_ALLOW)
        self._adapter = GuardedAdapter(self._guard)
        self._timeout_s, self._tries = timeout_s, retries + 1

    def fetch(self, url: str, checkpoint: Callable[[], None] = lambda: None) -> ImageResult:
        """The picture at an address. Each of its tries may take the timeout; what cannot pass is not tried
        again."""
        got = ImageResult(url, detail="It was never asked for.")
        for _ in range(self._tries):
            checkpoint()
            got = self._fetch_once(url, checkpoint)
            if not got.can_retry:
                break
        return got

    def close(self) -> None:
        """Let go of kept connections."""
        self._adapter.close()

    def _fetch_once(self, url: str, checkpoint: Callable[[], None]) -> ImageResult:
        watch = Deadline(self._timeout_s, checkpoint)
        try:
            with use_deadline(watch):
                return self._follow_redirects(url, watch)
        except FetchRefused as refusal:
            return ImageResult(url, detail=str(refusal))
        except DeadlineExceeded:
            return ImageResult(url, detail=f"It took longer than {self._timeout_s:g} s.", can_retry=True)
        except HostUnreachable as gone:
            return ImageResult(url, detail=str(gone), can_retry=True)
        except (requests.RequestException, HTTPError, OSError, ValueError) as error:
            return ImageResult(url, detail=http_outcomes.explain_transport_error(error)[1], can_retry=True)

    def _follow_redirects(self, url: str, watch: Deadline) -> ImageResult:
        here, cookies = url, RequestsCookieJar()
        for _ in range(MAX_REDIRECTS + 1):
            here = self._guard.check_url(here)
            watch.check()
            response = send_get(self._adapter, here, cookies)
            try:
                if response.status_code not in _REDIRECT_STATUSES:
                    return _read_image(url, response, watch)
                here = urljoin(here, response.headers.get("Location", ""))
            finally:
                response.close()
        return ImageResult(url, detail="Its address kept sending us on.")


def _read_image(url: str, response: requests.Response, watch: Deadline) -> ImageResult:
    if response.status_code != 200:
        return ImageResult(
            url,
            detail=f"Its server answered {response.status_code}.",
            can_retry=response.status_code in _RETRY_STATUSES,
        )
    body = bytearray()
    for chunk in response.raw.stream(_CHUNK, decode_content=True):
        watch.check()
        body += chunk
        if len(body) > MAX_BYTES:
            return ImageResult(url, detail=f"It is larger than {MAX_BYTES // 1_000_000} MB.")
    data = bytes(body)
    if not (kind := detect_image_type(data)):
        return ImageResult(url, detail="What came is no PNG, JPEG, GIF or WebP picture.")
    return ImageResult(url, kind, data, hashlib.sha256(data).hexdigest())


def detect_image_type(data: bytes) -> str:
    """What kind of picture these bytes are; "" for none that a model is sent."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((name for start, name in _IMAGE_SIGNATURES if data.startswith(start)), "")
