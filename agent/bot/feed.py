"""The Atom feed (RFC 4287) of a schedule at a secret address: an entry for each run that found something new.

Whoever has the address reads it: it holds what may leave of these runs, no key, and not the address."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from agent.actions.commit import ANSWERED_STATUSES
from agent.actions.new_since import FactChange, NewSince
from agent.bot.routes import RULES
from agent.engine.snapshots import CACHE_SIZE
from agent.errors import NotFound, TouchstoneError
from agent.export.escaping import clean_url, clean_xml
from agent.export.hiding import make_redactor
from agent.workbench import Workbench
from agent.workbenches import Workbenches


class FeedHttp:
    """The route of the feeds. `open_benches` gives the workbenches of the server."""

    def __init__(self, open_benches: Callable[[], Workbenches]) -> None:
        self._open_benches = open_benches
        self.routes = [Route("/feeds/{key}", self.handle_feed, methods=RULES["/feeds/*"].methods)]

    def handle_feed(self, request: Request) -> Response:
        """The feed of this key, 304 where the reader has it; 404 for a key that was renewed or never was."""
        benches = self._open_benches()
        try:
            bench, schedule_id = benches.find_feed(request.path_params["key"])
            body = render_feed(bench, schedule_id, benches.find_address(str(request.base_url)))
        except NotFound:
            told = "There is no such feed. Its address may have been renewed.\n"
            return PlainTextResponse(told, HTTPStatus.NOT_FOUND)
        except TouchstoneError:
            return PlainTextResponse("The feed cannot be read now.\n", HTTPStatus.SERVICE_UNAVAILABLE)
        etag = f'"{hashlib.sha256(body).hexdigest()}"'
        headers = {"etag": etag, "cache-control": "private, no-cache", "x-robots-tag": "noindex"}
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        return Response(body, headers=headers, media_type="application/atom+xml")


def render_feed(bench: Workbench, schedule_id: str, base: str) -> bytes:
    """The feed of a schedule, newest first; its links begin with `base`, the server's address. Raises
    NotFound."""
    from lxml import builder, etree  # imported when it is first read: 20 ms

    atom, xhtml = (
        builder.ElementMaker(namespace=name, nsmap={None: name})
        for name in ("http://www.w3.org/2005/Atom", "http://www.w3.org/1999/xhtml")
    )
    schedule, _, _ = bench.store.schedules.look(schedule_id)
    redact, entries, changed_at = make_redactor(bench.config.secrets), list[Any](), schedule.created_at
    for run in bench.runs(schedule_id=schedule_id, limit=CACHE_SIZE):
        told = bench.new_since(run.id) if run.status in ANSWERED_STATUSES else NewSince(run=run.id)
        if not told.summary:
            continue
        items, changed_at = list[Any](), max(changed_at, run.updated_at)
        for one in (FactChange.model_validate(redact(one.model_dump())) for one in told.facts):
            was = f" (before: {one.was})" if one.was else ""
            quote = f" “{one.quote}”" if one.quote != one.statement else ""
            said = [xhtml.strong(one.kind.capitalize()), clean_xml(f" {one.statement}{was}{quote} ")]
            url, page = clean_url(one.url), clean_xml(one.title or one.url)
            items.append(xhtml.li(*said, xhtml.a(page, href=url) if url else page))
        entries.append(
            atom.entry(
                atom.id(uuid.uuid5(uuid.NAMESPACE_OID, run.id).urn),
                atom.title(clean_xml(f"{redact(run.question)} ({told.summary})")),
                atom.published(run.created_at),
                atom.updated(run.updated_at),
                atom.link(href=f"{base}/?run={run.id}"),
                atom.content(xhtml.div(xhtml.ul(*items)), type="xhtml"),
            )
        )
    head = (
        atom.id(uuid.uuid5(uuid.NAMESPACE_OID, schedule.id).urn),
        atom.title(clean_xml(redact(schedule.name))),
    )
    feed = atom.feed(*head, atom.updated(changed_at), atom.author(atom.name("Touchstone")), *entries)
    return bytes(etree.tostring(feed, xml_declaration=True, encoding="utf-8"))
