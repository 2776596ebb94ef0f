"""Functions for Python code: `collect` as a call, the path it shows, the check of a text, and the three
utilities of seed 000.

start_page = "https://borskvart.example/stock/KALL"
found = await run_agent("What do members say about Kallsteg?", [start_page], max_articles=5, world="demo")
found = run_agent_sync("What do members say about Kallsteg?", [start_page], max_articles=5, world="demo")
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from pydantic import BaseModel

from agent.actions import validation
from agent.actions.export import build_collection as build_collection
from agent.errors import ModelUnavailable, TouchstoneError, UsageError
from agent.export import collected
from agent.llm import detect
from agent.llm.model import CompletionRequest
from agent.llm.parse_reply import parse_reply
from agent.llm.structured_call import CallContext, request_structured
from agent.roles.role import AskModel
from agent.settings.config import Config
from agent.text.urls import canonicalize, complete_typed_url, find_urls
from agent.types import CollectLimits, Outcome, Settings, SourceFilter, Status
from agent.web.extract import documents
from agent.workbench import Workbench

MAX_START_PAGES = 20
PASTED_NAME = "text.md"
"""The name of a pasted text, which is read as Markdown."""
MAX_TITLE_CHARS = 120
"""Characters of the title of a text without one: its beginning."""


class TextReply(BaseModel):
    """A reply that is one text."""

    text: str


def run_agent(
    prompt: str,
    seed_links: Sequence[str],
    max_articles: int = 10,
    use_smart_navigation: bool = True,
    **options: Any,
) -> Any:
    """`run_agent_sync` under the name of seed 001: to be awaited where an event loop runs (it works in a
    thread), the result itself elsewhere. A cancelled await leaves the run going; the act “stop” ends it."""
    call = partial(run_agent_sync, prompt, seed_links, max_articles, use_smart_navigation, **options)
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # plain code
        return call()
    return asyncio.to_thread(call)


def run_agent_sync(
    prompt: str,
    seed_links: Sequence[str],
    max_articles: int = 10,
    use_smart_navigation: bool = True,
    *,
    max_depth: int = 3,
    world: str = "live",
    model: str = "auto",
    bench: Workbench | None = None,
    watch: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Collect from the start pages; returns the record of agent.export.collected.build_collection_record.

    `use_smart_navigation` False follows all links of the start pages and takes each page as an article.
    `watch` is called with the run's id after each step. Raises UsageError for settings that are not possible,
    TouchstoneError when the run failed."""
    limits = CollectLimits(
        max_articles=max_articles, max_depth=max_depth, use_smart_navigation=use_smart_navigation
    )
    with _open(bench) as opened:
        run_id = start_collect_run(
            opened, prompt, seed_links, Settings(world=world, model=model, collect=limits)
        )
        status = opened.drive(run_id, watch=(lambda: watch(run_id)) if watch else None)
        if status is not Status.REVIEW:
            error = opened.snapshot(run_id).run.error or "it did not reach its digest"
            raise TouchstoneError(f"the run {run_id} is {status.value}: {error}")
        return collected.build_collection_record(build_collection(opened, run_id))


def call_llm(prompt: str, *, bench: Workbench | None = None) -> str:
    """The model's reply to a prompt (seed 000: `utils/call_llm.py`). Raises ModelUnavailable without one."""
    with _open(bench) as opened:
        found = opened.worker.model_search.find()
        if found.client is None:
            raise ModelUnavailable(found.detail)
        request = CompletionRequest([{"role": "user", "content": prompt}], TextReply)
        return parse_reply(found.client.complete(request).text, TextReply).text


def crawl_web(
    url: str, allowed_domains: Sequence[str] = (), *, world: str = "live", bench: Workbench | None = None
) -> tuple[str, list[str]]:
    """The clean text of a page and its links within the domains (seed 000: `utils/web_crawler.py`). Raises
    UsageError with the reason when it cannot be read."""
    reach = SourceFilter(allowed_domains=list(allowed_domains))
    with _open(bench) as opened:
        page = opened.worker.world(world).fetch(complete_typed_url(url), reach=reach)
    if page.outcome is not Outcome.OK:
        raise UsageError(f"{url} cannot be read ({page.outcome}): {page.detail}")
    links = dict.fromkeys(link.url for link in page.links if is_valid_url(link.url, allowed_domains))
    return page.text, list(links)


def is_valid_url(url: str, allowed_domains: Sequence[str] = ()) -> bool:
    """Whether this is a web address within the domains; no domains allow all (seed 000, `url_validator`)."""
    return bool(canonicalize(url)) and SourceFilter(allowed_domains=list(allowed_domains)).allows(url)


@contextmanager
def _open(bench: Workbench | None) -> Iterator[Workbench]:
    """The workbench that is given, or one for a while."""
    opened = bench or Workbench()
    try:
        yield opened
    finally:
        if bench is None:
            opened.shutdown()


def start_collect_run(bench: Workbench, prompt: str, seed_links: Sequence[str], settings: Settings) -> str:
    """Start a run from the start pages and the addresses in the prompt; returns its id. Raises UsageError
    when there is no start page or a limit is not possible."""
    typed = [complete_typed_url(link) for link in seed_links if link.strip()]
    start_urls = list(dict.fromkeys([*typed, *find_urls(prompt)]))
    if len(start_urls) > MAX_START_PAGES:
        raise UsageError(f"{len(start_urls)} start pages are named; {MAX_START_PAGES} are the most")
    limits = settings.collect
    for what, value in (
        ("article or thread", limits.max_articles),
        ("page", limits.max_pages),
        ("level of depth", limits.max_depth),
    ):
        if value < 1:
            raise UsageError(f"a collecting run needs at least one {what}, not {value}")
    return bench.start(prompt, settings.replace(flow="collect", start_urls=start_urls))


def start_text_check(bench: Workbench, name: str, data: bytes, settings: Settings) -> str:
    """Check a document, or a text (`name` "text.md"), against the sources it cites; returns the run's id. The
    text is stored first. Raises UsageError when it cannot be read."""
    if name.lower().endswith(".txt") and b"](http" in data:
        name = f"{name[:-4]}.md"
    called = "the text" if name == PASTED_NAME else documents.clean_name(name)
    if not data.strip():
        raise UsageError(f"{called} is empty: there is nothing to check")
    page = documents.read_document(name, data)
    if not page.text.strip():
        raise UsageError(f"{called} holds no text that can be read")
    heading = page.headings[0].text if page.headings else ""
    pasted = heading or " ".join(page.text.split())[:MAX_TITLE_CHARS]
    title = pasted if name == PASTED_NAME else page.title or pasted
    page_id = bench.store.pages.put(page.replace(title=title, origin="given"), shelve=False)
    own = settings.check_text.replace(page_id=page_id)
    return bench.start(title[:MAX_TITLE_CHARS], settings.replace(flow="check_text", check_text=own))


def start_address_check(bench: Workbench, url: str, settings: Settings) -> str:
    """Check the page at an address against the sources it cites; returns the run's id. Raises UsageError."""
    return bench.start(validation.require_url(url), settings.replace(flow="check_text"))


def make_ask(name: str, config: Config) -> AskModel | None:
    """The function that calls the model of that name; None for "keyless". Raises UsageError."""
    if name == "keyless":
        return None
    found = detect.find_model(config)
    if found.client is None:
        raise UsageError(f"the model {name} was asked for, but {found.detail}")
    client = found.client if name == "auto" else found.client.with_models(strong=name, fast=name)

    def _ask(role: str, messages: list[dict[str, str]], shape: type[BaseModel], tier: str) -> BaseModel:
        ticket = CallContext("", 0, role, lambda _: None, lambda _: None, lambda: None)
        return request_structured(client, ticket, messages, shape, tier=tier)  # type: ignore[arg-type]

    return _ask
