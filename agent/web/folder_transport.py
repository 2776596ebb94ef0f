"""A folder with `docs.jsonl(.gz)` as a small web: the page at each address, and the response a server would
give.

`FolderAdapter` is a `requests` transport that never touches the network: an unknown address is a 404, every
host has a robots.txt, a sitemap and (when no document is there) a front page that lists its pages."""

from __future__ import annotations

import io
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPResponse

from agent.text import urls
from agent.web.extract import dispatch
from agent.web.folder_store import RESERVED_PATHS, FolderDocument, find_attached_file, open_folder_store

ServedResponse = tuple[int, dict[str, str], bytes]

_HTML = "text/html; charset=utf-8"
_NOT_FOUND = b"<title>Not found</title><p>There is no such page in this world.</p>"
_SITEMAP_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
)


class FolderSite:
    """The responses of the servers of a folder's documents."""

    def __init__(self, folder: Path, kept_in: Path) -> None:
        """`kept_in`: where the built index is kept. Raises NotFound, UsageError."""
        self._folder = folder
        self.store = open_folder_store(folder, kept_in, self._read_text)

    def serve(self, url: str) -> ServedResponse:
        """Status, headers and body for an address; 404 for one that is not here."""
        if doc := self.store.find(url):
            return self._serve_document(doc)
        host, parts = urls.host(url), urlsplit(url)
        if parts.path in ("", "/", *RESERVED_PATHS) and self.store.has_host(host):
            if parts.path == "/robots.txt":
                rules = f"User-agent: *\nAllow: /\nSitemap: {parts.scheme}://{parts.netloc}/sitemap.xml\n"
                return 200, {"Content-Type": "text/plain"}, rules.encode()
            if parts.path == "/sitemap.xml":
                places = (f"<url><loc>{escape(url)}</loc></url>\n" for url, _ in self.store.list_public(host))
                sitemap = f"{_SITEMAP_HEAD}{''.join(places)}</urlset>"
                return 200, {"Content-Type": "application/xml"}, sitemap.encode()
            entries = "".join(_list_item(url, title or url) for url, title in self.store.list_public(host))
            head = f"<!doctype html>\n<html><head><title>{host}</title></head>\n<body><h1>{host}</h1>\n<ul>\n"
            return 200, {"Content-Type": _HTML}, f"{head}{entries}</ul></body></html>".encode()
        return 404, {"Content-Type": _HTML}, _NOT_FOUND

    def _read_text(self, doc: FolderDocument) -> tuple[str, str]:
        """The title and text that a document is searched by."""
        title, text = str(doc.get("title", "")), str(doc.get("text", ""))
        if not text and (doc.get("html") or doc.get("file")):
            _, headers, body = self._serve_document(doc)
            reading = dispatch.extract_content(body, headers["Content-Type"], str(doc["url"]))
            title, text = title or reading.title, reading.text
        return title, text

    def _serve_document(self, doc: FolderDocument) -> ServedResponse:
        status = int(doc.get("status", 302 if doc.get("location") else 200))
        stated = str(doc.get("content_type") or "")
        headers = {"Content-Type": stated or _HTML}
        if doc.get("location"):
            headers["Location"] = str(doc["location"])
        if doc.get("file"):
            body = find_attached_file(self._folder, str(doc["file"])).read_bytes()
            if not stated and body.startswith(b"%PDF"):
                headers["Content-Type"] = "application/pdf"
            return status, headers, body
        is_plain = stated and "html" not in stated and "html" not in doc
        text = str(doc.get("text", "")) if is_plain else str(doc.get("html") or self._render_page(doc))
        return status, headers, text.encode()

    def _render_page(self, doc: FolderDocument) -> str:
        """The page of a document that has only text: title, paragraphs, and its links apart from them."""
        title = escape(str(doc.get("title", "")))
        lines = [line for line in str(doc.get("text", "")).splitlines() if line.strip()]
        paragraphs = "".join(f"<p>{escape(line)}</p>\n" for line in lines)
        stated = [(link, self.store.find_linked(link)) for link in map(str, doc.get("links") or ())]
        known = [found or (link, "") for link, found in stated if found or urls.canonicalize(link)]
        links = "".join(_list_item(to, name) for to, name in known)
        navigation = f"<nav><ul>\n{links}</ul></nav>\n" if links else ""
        published = doc.get("published_at") or doc.get("date")
        meta = f'<meta name="date" content="{escape(str(published), quote=True)}">' if published else ""
        return (
            f"<!doctype html>\n<html><head><title>{title}</title>{meta}</head>\n"
            f"<body><main><h1>{title}</h1>\n{paragraphs}</main>\n{navigation}</body></html>"
        )


def _list_item(url: str, text: str) -> str:
    return f'<li><a href="{escape(url, quote=True)}">{escape(text)}</a></li>\n'


class FolderAdapter(HTTPAdapter):
    """The transport of a folder world."""

    def __init__(self, folder: FolderSite) -> None:
        super().__init__(max_retries=0)
        self._served = folder

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        """The response of the folder; arguments beyond the request are ignored."""
        status, headers, body = self._served.serve(request.url or "")
        raw = HTTPResponse(body=io.BytesIO(body), headers=headers, status=status, preload_content=False)
        return self.build_response(request, raw)  # type: ignore[no-untyped-call,no-any-return,unused-ignore]
