"""Fetches a picture that a person sent along: through the guard, hop by hop, within a time, a size and a few
tries.

Failures come back as an `ImageResult` with a sentence; only Signals are raised. The first bytes decide the
type. A person sent the address with their message, so robots.txt, which speaks to crawlers, is not asked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from urllib.parse import urljoin

from agent.net.deadline import Deadline, DeadlineExceeded, NoAnswer
from agent.net.exchange import REDIRECT_STATUSES, Connections
from agent.net.policies import PICTURE
from agent.net.ssrf_guard import HostUnreachable
from agent.settings.config import Config
from agent.web import http_outcomes, mime

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

    def __init__(
        self, config: Config, *, timeout_s: float, retries: int, take_page: Callable[[int], str]
    ) -> None:
        self._take_page = take_page
        self._connections = Connections(config.FETCH_ALLOW)
        self.close = self._connections.close
        self._policy, self._tries = replace(PICTURE, seconds=timeout_s), retries + 1

    def fetch(self, url: str, checkpoint: Callable[[], None] = lambda: None) -> ImageResult:
        """The picture at an address. Each try may take the timeout; only what may succeed is tried again.
        Nothing is asked for where a quota is used up."""
        if over := self._take_page(1):
            return ImageResult(url, detail=f"Not fetched: {over}.")
        result = ImageResult(url, detail="It was never fetched.")
        for _ in range(self._tries):
            checkpoint()
            result = self._fetch_once(url, checkpoint)
            if not result.can_retry:
                break
        return result

    def _fetch_once(self, url: str, checkpoint: Callable[[], None]) -> ImageResult:
        deadline, here = Deadline(self._policy.seconds, checkpoint), url
        try:
            for _ in range(http_outcomes.MAX_REDIRECTS + 1):
                here = self._connections.guard.check_url(here)
                reply = self._connections.exchange(self._policy, here, deadline=deadline)
                if reply.status not in REDIRECT_STATUSES:
                    if (status := reply.status) != HTTPStatus.OK:
                        return ImageResult(
                            url, detail=f"Its server answered {status}.", can_retry=status in _RETRY_STATUSES
                        )
                    if not (kind := mime.detect_image_type(reply.body)):
                        return ImageResult(url, detail="What came is no PNG, JPEG, GIF or WebP picture.")
                    return ImageResult(url, kind, reply.body, hashlib.sha256(reply.body).hexdigest())
                here = urljoin(here, reply.headers.get("Location", ""))
        except DeadlineExceeded:
            return ImageResult(url, detail=f"It took longer than {self._policy.seconds:g} s.", can_retry=True)
        except (NoAnswer, ValueError) as error:
            return ImageResult(url, detail=str(error), can_retry=isinstance(error, HostUnreachable))
        return ImageResult(url, detail="Its address redirects too often.")
