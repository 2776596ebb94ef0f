"""What a body is, whatever its server says."""

from __future__ import annotations

import pytest

from agent.web.mime import detect_kind

HTML = b"<!doctype html><p>x"


@pytest.mark.parametrize(
    ("raw", "content_type", "expected"),
    [
        (HTML, "text/html; charset=utf-8", "html"),
        (HTML, "", "html"),
        (HTML, "application/pdf", "html"),
        (HTML, "text/plain", "html"),
        (HTML, "application/octet-stream", "html"),
        (b"\xef\xbb\xbf" + HTML, "", "html"),
        (b"hello", "text/html", "html"),
        (b"%PDF-1.4", "application/pdf", "pdf"),
        (b"%PDF-1.4", "text/html", "pdf"),
        (b"junk\n%PDF-1.7", "", "pdf"),
        (b"plain", "text/plain", "text"),
        (b"# Title", "text/markdown", "text"),
        (b"{}", "application/json", "text"),
        (b"a,b", "text/csv", "text"),
        (b"plain", "", "text"),
        (b"<b> is a tag", "text/plain", "text"),
        (b"<?xml version='1.0'?><urlset/>", "application/xml", "xml"),
        (b"<rss/>", "application/rss+xml", "xml"),
        (b"<?xml version='1.0'?><html xmlns=''>", "application/xhtml+xml", "html"),
        (b"\x89PNG\r\n", "text/html", "other"),
        (b"PK\x03\x04", "text/html", "other"),
        (b"\x7fELF", "", "other"),
        (b"\x00\x00\x00 ftypmp42", "video/mp4", "other"),
        (b"text\x00binary", "text/plain", "other"),
        ("hi".encode("utf-16"), "text/plain", "text"),
        (b"x", "image/svg+xml", "other"),
        (b"x", "video/mp4", "other"),
        (b"", "text/html", "empty"),
        (b" \n", "text/html", "empty"),
    ],
)
def test_kinds(raw: bytes, content_type: str, expected: str) -> None:
    assert detect_kind(raw, content_type) == expected
