"""Fetches a picture that a person sent along: through the guard, hop by hop, within a time, a size and a few
tries.

Failures come back as an `ImageResult` with a sentence; only Signals are raised. The first bytes decide the
type. A person sent the address with their message, so robots.txt, which speaks to crawlers, is not asked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urljoin

import requests
from requests.cookies import RequestsCookieJar
from urllib3.exceptions import HTTPError

from agent.config import Config
from agent.net.deadline import Deadline, DeadlineExceeded
from agent.net.deadline_sockets import use_deadline
from agent.net.policies import PICTURE
from agent.net.ssrf_guard import FetchRefused, HostUnreachable, SsrfGuard
from agent.net.transport import GuardedAdapter, read_body, send_get
from agent.web import http_outcomes, mime

MAX_REDIRECTS = 3
_RETRY_STATUSES = (408, 425, 429, 500, 502, 503, 504)


@dataclass(frozen=True)
class ImageResult:
    """A picture, or in `detail` why there is none. `can_retry`: the same request may succeed in a moment."""

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
        """The picture at an address. Each try may take the timeout; only what may succeed is tried again."""
        result = ImageResult(url, detail="It was never fetched.")
        for _ in range(self._tries):
            checkpoint()
            result = self._fetch_once(url, checkpoint)
            if not result.can_retry:
                break
        return result

    def close(self) -> None:
        """Close the kept connections."""
        self._adapter.close()

    def _fetch_once(self, url: str, checkpoint: Callable[[], None]) -> ImageResult:
        deadline = Deadline(self._timeout_s, checkpoint)
        try:
            with use_deadline(deadline):
                return self._follow_redirects(url, deadline)
        except FetchRefused as refusal:
            return ImageResult(url, detail=str(refusal))
        except DeadlineExceeded:
            return ImageResult(url, detail=f"It took longer than {self._timeout_s:g} s.", can_retry=True)
        except HostUnreachable as error:
            return ImageResult(url, detail=str(error), can_retry=True)
        except (requests.RequestException, HTTPError, OSError, ValueError) as error:
            return ImageResult(url, detail=http_outcomes.explain_transport_error(error)[1], can_retry=True)

    def _follow_redirects(self, url: str, deadline: Deadline) -> ImageResult:
        here, cookies = url, RequestsCookieJar()
        for _ in range(MAX_REDIRECTS + 1):
            here = self._guard.check_url(here)
            deadline.check()
            response = send_get(self._adapter, here, cookies)
            try:
                if response.status_code not in http_outcomes.REDIRECT_STATUSES:
                    return _read_image(url, response, deadline)
                here = urljoin(here, response.headers.get("Location", ""))
            finally:
                response.close()
        return ImageResult(url, detail="Its address redirects too often.")


def _read_image(url: str, response: requests.Response, deadline: Deadline) -> ImageResult:
    if (status := response.status_code) != 200:
        return ImageResult(url, detail=f"Its server answered {status}.", can_retry=status in _RETRY_STATUSES)
    data = read_body(response.raw, deadline, PICTURE.max_bytes)
    if len(data) > PICTURE.max_bytes:
        return ImageResult(url, detail=f"It is larger than {PICTURE.max_bytes // 1_000_000} MB.")
    if not (kind := mime.detect_image_type(data)):
        return ImageResult(url, detail="What came is no PNG, JPEG, GIF or WebP picture.")
    return ImageResult(url, kind, data, hashlib.sha256(data).hexdigest())
