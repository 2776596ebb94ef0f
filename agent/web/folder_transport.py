"""A folder with `docs.jsonl(.gz)` as a small web: the page at each address, and the response a server would
give.

`FolderAdapter` is a `requests` transport that never touches the network: an unknown address is a 404, every
host has a robots.txt, a sitemap and (when no document is there) a front page that lists its pages."""

from __future__ import annotations

import gzip
import io
import json
from collections import defaultdict
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPResponse

from agent.errors import NotFound, UsageError
from agent.text import urls
from agent.web.extract import dispatch

FolderDocument = dict[str, Any]
ServedResponse = tuple[int, dict[str, str], bytes]

_RESERVED_PATHS = ("/robots.txt", "/sitemap.xml")
_HTML = "text/html; charset=utf-8"
_NOT_FOUND = b"<title>Not found</title><p>There is no such page in this world.</p>"
_SITEMAP_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
)


def find_docs_file(folder: Path) -> Path:
    """The folder's documents; raises `NotFound` with a hint when there are none."""
    for name in ("docs.jsonl", "docs.jsonl.gz"):
        if (folder / name).is_file():
            return folder / name
    hint = "Name a folder that has one, or use --world live or demo."
    raise NotFound(f"There is no docs.jsonl or docs.jsonl.gz in {folder}. {hint}")


def read_docs(file: Path) -> Iterator[FolderDocument]:
    """The documents, one a line; raises `UsageError` naming the line that can't be read."""
    with (
        gzip.open(file, "rt", encoding="utf-8")
        if file.suffix == ".gz"
        else file.open(encoding="utf-8") as lines
    ):
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _parse_doc(line, f"{file.name}, line {number}")


def _parse_doc(line: str, where: str) -> FolderDocument:
    try:
        doc = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{where}: not JSON ({error}).") from error
    if not isinstance(doc, dict) or not urls.canonicalize(str(doc.get("url", ""))):
        raise UsageError(f"{where}: a document needs an absolute http(s) `url`.")
    return doc


class FolderSite:
    """The documents by address, and the responses of their servers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.docs = list(read_docs(find_docs_file(folder)))
        self._at = {urls.canonicalize(doc["url"]): doc for doc in reversed(self.docs)}
        self._by_id = {str(doc["id"]): doc for doc in self.docs if "id" in doc}
        self._hosts: dict[str, list[FolderDocument]] = defaultdict(list)
        for doc in self.docs:
            self._hosts[urls.host(doc["url"])].append(doc)

    def serve(self, url: str) -> ServedResponse:
        """Status, headers and body for an address; 404 for one that is not here."""
        if doc := self._at.get(urls.canonicalize(url)):
            return self._serve_document(doc)
        host, parts = urls.host(url), urlsplit(url)
        if host in self._hosts and parts.path == "/robots.txt":
            rules = f"User-agent: *\nAllow: /\nSitemap: {parts.scheme}://{parts.netloc}/sitemap.xml\n"
            return 200, {"Content-Type": "text/plain"}, rules.encode()
        if host in self._hosts and parts.path == "/sitemap.xml":
            return 200, {"Content-Type": "application/xml"}, self._render_sitemap(host)
        if host in self._hosts and parts.path in ("", "/"):
            return 200, {"Content-Type": _HTML}, self._render_front_page(host)
        return 404, {"Content-Type": _HTML}, _NOT_FOUND

    def searchable_documents(self) -> Iterator[tuple[str, str, str]]:
        """Address, title and text of the documents a search engine would index: no redirects, failures or
        rules."""
        for host in self._hosts:
            for doc in self._public_documents(host):
                title, text = str(doc.get("title", "")), str(doc.get("text", ""))
                if not text and (doc.get("html") or doc.get("file")):
                    _, headers, body = self._serve_document(doc)
                    reading = dispatch.extract_content(body, headers["Content-Type"], str(doc["url"]))
                    title, text = title or reading.title, reading.text
                yield str(doc["url"]), title, text

    def _serve_document(self, doc: FolderDocument) -> ServedResponse:
        status = int(doc.get("status", 302 if doc.get("location") else 200))
        stated = str(doc.get("content_type") or "")
        headers = {"Content-Type": stated or _HTML}
        if doc.get("location"):
            headers["Location"] = str(doc["location"])
        if doc.get("file"):
            body = self._read_attached_file(str(doc["file"]))
            if not stated and body.startswith(b"%PDF"):
                headers["Content-Type"] = "application/pdf"
            return status, headers, body
        is_plain = stated and "html" not in stated and "html" not in doc
        text = str(doc.get("text", "")) if is_plain else str(doc.get("html") or self._render_page(doc))
        return status, headers, text.encode()

    def _read_attached_file(self, name: str) -> bytes:
        file = (self._folder / name).resolve()
        if not file.is_relative_to(self._folder.resolve()) or not file.is_file():
            raise UsageError(f"The document's file {name!r} is not in the world's folder.")
        return file.read_bytes()

    def _render_page(self, doc: FolderDocument) -> str:
        """The page of a document that has only text: its title, its paragraphs, and its links apart from
        them."""
        title = escape(str(doc.get("title", "")))
        lines = [line for line in str(doc.get("text", "")).splitlines() if line.strip()]
        paragraphs = "".join(f"<p>{escape(line)}</p>\n" for line in lines)
        links = "".join(_list_item(to, name) for to, name in self._resolve_links(doc))
        navigation = f"<nav><ul>\n{links}</ul></nav>\n" if links else ""
        published = doc.get("published_at") or doc.get("date")
        meta = f'<meta name="date" content="{escape(str(published), quote=True)}">' if published else ""
        return (
            f"<!doctype html>\n<html><head><title>{title}</title>{meta}</head>\n"
            f"<body><main><h1>{title}</h1>\n{paragraphs}</main>\n{navigation}</body></html>"
        )

    def _resolve_links(self, doc: FolderDocument) -> Iterator[tuple[str, str]]:
        for link in doc.get("links") or ():
            other = self._by_id.get(str(link)) or self._at.get(urls.canonicalize(str(link)))
            if other is not None:
                yield str(other["url"]), str(other.get("title", ""))
            elif urls.canonicalize(str(link)):
                yield str(link), ""

    def _render_sitemap(self, host: str) -> bytes:
        places = (
            f"<url><loc>{escape(str(doc['url']))}</loc></url>\n" for doc in self._public_documents(host)
        )
        return f"{_SITEMAP_HEAD}{''.join(places)}</urlset>".encode()

    def _render_front_page(self, host: str) -> bytes:
        documents = self._public_documents(host)
        entries = "".join(
            _list_item(str(doc["url"]), str(doc.get("title") or doc["url"])) for doc in documents
        )
        head = f"<!doctype html>\n<html><head><title>{host}</title></head>\n<body><h1>{host}</h1>\n<ul>\n"
        return f"{head}{entries}</ul></body></html>".encode()

    def _public_documents(self, host: str) -> list[FolderDocument]:
        return [
            doc
            for doc in self._hosts[host]
            if int(doc.get("status", 200)) == 200
            and not doc.get("location")
            and urlsplit(doc["url"]).path not in _RESERVED_PATHS
        ]


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
