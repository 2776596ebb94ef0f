"""One search with one backend of `ddgs`, inside a process of `agent.web.parser_pool`.

`ddgs` raises the same error for "nothing found" and "go away", so what its HTTP client came across is told
as well. Requests look like a browser's: that is how ddgs works."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from agent.net.policies import ENGINE
from agent.web.search_results import RawResult

MAX_RESULTS = 100
_NO_RESULTS = (
    "no-results",
    "no results",
    "no more results",
    "did not match any",
    "not found any",
    "keine ergebnisse",
)
_CHALLENGE = ("anomaly", "captcha", "bots use", "unusual traffic", "challenge")


@dataclass
class BackendReply:
    """What a backend gave, or what its HTTP client came across."""

    results: list[RawResult] = field(default_factory=list)
    status: int | None = None
    retry_after: str | None = None
    says_nothing_found: bool = False
    is_late: bool = False
    is_too_large: bool = False
    known_backends: list[str] = field(default_factory=list)
    """All there are, when the one that was asked for is not among them."""


def search_backend(
    words: str, *, backend: str, endpoint: str, region: str, timelimit: str | None, proxy: str
) -> BackendReply:
    """What the backend finds; `endpoint` replaces its address, `proxy` is where all connections go."""
    # ddgs loads primp, a compiled browser of 20 MB, so it is imported at the first live search.
    from ddgs.engines import ENGINES
    from ddgs.exceptions import DDGSException
    from lxml.etree import LxmlError, XMLSyntaxError

    engine_class = ENGINES["text"].get(backend)
    if engine_class is None:
        return BackendReply(known_backends=sorted(ENGINES["text"]))
    engine = engine_class(proxy=proxy, timeout=10)
    if endpoint:
        engine.search_url = endpoint
    if endpoint.startswith("http:"):  # the tunnel looks at the first request of a connection
        engine.http_client.client.headers_update({"Connection": "close"})
    reply = BackendReply()
    _limit_and_record(engine.http_client, reply)
    try:
        found = engine.search(words, region=region, timelimit=timelimit) or []
    except (DDGSException, LxmlError, ValueError) as error:  # the last two: ddgs could not parse the page
        found = []
        reply.is_too_large |= isinstance(error, XMLSyntaxError)  # it forgives all but a lack of memory
    reply.results = [
        RawResult(str(result.href), str(result.title), str(result.body)) for result in found[:MAX_RESULTS]
    ]
    return reply


def _limit_and_record(client: Any, reply: BackendReply) -> None:
    """Make a ddgs HTTP client stop at the policy's limit, and record what ddgs drops of its responses."""
    import primp
    from ddgs.exceptions import DDGSException

    def request(*args: Any, **kwargs: Any) -> SimpleNamespace:
        content = bytearray()
        try:
            response = client.client.request(*args, stream=True, **kwargs)
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) > ENGINE.max_bytes:
                    reply.is_too_large = True
                    raise DDGSException("too large")
        except primp.PrimpError as error:
            reply.is_late = isinstance(error, primp.TimeoutError) or "timed out" in str(error).lower()
            raise DDGSException(str(error)) from error
        text = content.decode(response.encoding, "replace")
        start = text[:200_000].lower()
        has_none, is_challenge = (any(words in start for words in of) for of in (_NO_RESULTS, _CHALLENGE))
        reply.status, reply.retry_after = response.status_code, dict(response.headers).get("retry-after")
        reply.says_nothing_found = has_none and not is_challenge
        return SimpleNamespace(status_code=response.status_code, content=bytes(content), text=text)

    client.request = request
