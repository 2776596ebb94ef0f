"""Pictures against a real server: what counts as one, what is tried again, how long and how large, and the
guard on every hop."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

import pytest

from agent.errors import StopRequested
from agent.settings import config
from agent.web import image_fetcher
from agent.web.image_fetcher import ImageFetcher, ImageResult
from tests.web.site import Asked, Reply, Site

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def fetched(
    site: Site,
    path: str,
    *,
    retries: int = 2,
    timeout_s: float = 5.0,
    allow: str = "127.0.0.1",
    check: Callable[[], None] = lambda: None,
) -> ImageResult:
    made = ImageFetcher(
        config.read_config({"FETCH_ALLOW": allow}),
        timeout_s=timeout_s,
        retries=retries,
        take_page=lambda _: "",
    )
    try:
        return made.fetch(site.url(path) if path.startswith("/") else path, check)
    finally:
        made.close()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0 jpeg", "image/jpeg"),
        (b"GIF89a gif", "image/gif"),
        (b"RIFF0000WEBPVP8 ", "image/webp"),
    ],
)
def test_a_picture_is_told_by_its_bytes_not_by_its_name(body: bytes, kind: str) -> None:
    with Site({"/x.txt": Reply(200, body, {"Content-Type": "text/plain"})}) as site:
        got = fetched(site, "/x.txt")
    assert (got.media_type, got.data, got.sha256, got.detail) == (
        kind,
        body,
        hashlib.sha256(body).hexdigest(),
        "",
    )


@pytest.mark.parametrize(
    "body", [b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"<!doctype html>", b"", b"%PDF-1.7"]
)
def test_anything_else_is_refused_at_once(body: bytes) -> None:
    with Site({"/x.png": Reply(200, body, {"Content-Type": "image/png"})}) as site:
        got = fetched(site, "/x.png")
        assert len(site.asked) == 1 and not got.data and "no PNG, JPEG, GIF or WebP" in got.detail


def test_what_may_pass_is_tried_again_as_often_as_said() -> None:
    answers = [Reply(503), Reply(429), Reply(200, PNG)]
    with Site({"/x": lambda asked: answers.pop(0)}) as site:
        assert fetched(site, "/x", retries=2).data == PNG
    with Site({"/x": Reply(500)}) as site:
        got = fetched(site, "/x", retries=1)
        assert len(site.asked) == 2 and got.detail == "Its server answered 500."
    with Site({"/x": Reply(404)}) as site:
        assert "404" in fetched(site, "/x", retries=5).detail and len(site.asked) == 1


@pytest.mark.slow
def test_each_try_has_its_time() -> None:
    with Site({"/x": Reply(200, PNG, ends="stalls")}) as site:
        got = fetched(site, "/x", retries=1, timeout_s=0.3)
        assert got.detail == "It took longer than 0.3 s." and len(site.asked) == 2


def test_a_picture_has_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_fetcher, "PICTURE", replace(image_fetcher.PICTURE, max_bytes=1_000_000))
    with Site({"/x": Reply(200, PNG + bytes(1_000_000))}) as site:
        got = fetched(site, "/x")
        assert "larger than 1 MB, the limit for a picture" in got.detail and len(site.asked) == 1


def test_a_signal_passes_through() -> None:
    def stop() -> None:
        raise StopRequested("stop")

    with Site({"/x": Reply(200, PNG)}) as site, pytest.raises(StopRequested):
        fetched(site, "/x", check=stop)
    assert not site.asked


def test_nothing_of_ours_is_sent_along() -> None:
    seen: list[Asked] = []
    with Site({"/x": lambda asked: seen.append(asked) or Reply(200, PNG)}) as site:  # type: ignore[func-returns-value]
        fetched(site, "/x")
    assert not {"Cookie", "Authorization", "Referer"} & set(seen[0].headers)
    assert "Touchstone" in seen[0].headers["User-Agent"]
