"""The engines behind an HTTP API as a table: the address its documentation gives, what is asked, and where in
the answer each field stands. `agent.web.engines.http_api` asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote, urljoin

from agent.net.exchange import parse_json
from agent.settings.config import USER_AGENT, Config
from agent.text.question_analysis import extract_keywords
from agent.types import Outcome, SourceFilter
from agent.web.search_results import MAX_CHARACTERS, add_site_operators, shorten, time_limit

Item = dict[str, Any]
Place = str | Callable[[Item], Any]
"""Where a field of a result stands: paths ("a.b | c": the first with a value counts), or a function."""

_QUERY_SIGNS = str.maketrans(dict.fromkeys(':()[]{}^~*?\\/"', " "))
"""What Europe PMC's query language reads as more than words."""
_ATOM = {"a": "http://www.w3.org/2005/Atom", "x": "http://arxiv.org/schemas/atom"}


class ApiError(ValueError):
    """The engine answered with an error instead of results; the message is for a person."""

    def __init__(self, detail: str, outcome: Outcome = Outcome.ERROR) -> None:
        super().__init__(detail)
        self.outcome = outcome


class Asked(NamedTuple):
    """A search for at most `most` results inside `reach`; `mail` is the address of who asks."""

    query: str
    most: int
    reach: SourceFilter
    key: str
    mail: str


@dataclass(frozen=True)
class Api:
    """One engine. `ask` gives the parameters of the address, those without a value are left out; `items` is
    the path of the results, "" where `load` gives them as a list."""

    address: str
    ask: Callable[[Asked], Mapping[str, Any]]
    items: str
    url: Place
    snippet: Place
    _: KW_ONLY
    title: Place = "title"
    day: Place = ""
    work: Mapping[str, Place] = field(default_factory=dict)
    """The fields of its publication, by the names of `build_publication`."""
    headers: Callable[[Asked], Mapping[str, str]] = lambda _: {}
    load: Callable[[bytes], Any] = parse_json
    """Reads the answer; raises ApiError, or what reading a wrong shape raises."""
    prefers_doi: bool = False
    """Whether the address of a result is that of its DOI, where it has one."""
    is_posted: bool = False
    """Whether the parameters go as a JSON body."""
    may_lack_items: bool = False
    """Whether an answer without the list means that nothing was found."""
    limited: tuple[int, ...] = (429, 432, 433)
    """The statuses of too many requests; Tavily's: the plan's or the paid allowance is used up."""
    blocked_advice: str = "Use another engine, or try later."
    locate: Callable[[Config], str] | None = None
    """Its address where only the operator knows it."""


def pick(item: Any, place: Place) -> Any:
    """What stands at a place; None for nothing. A 0 in a path is the first of a list, * each of them."""
    if callable(place):
        return place(item)
    found: Any = None
    for path in place.split(" | ") if place else ():
        found, names = item, path.split(".")
        for n, name in enumerate(names):
            if found is None:
                break
            if name == "*":
                found = [pick(one, ".".join(names[n + 1 :])) for one in found]
                break
            found = (found[0] if found else None) if name == "0" else found.get(name)
        if found:
            break
    return found


def _load_searxng(body: bytes) -> Any:
    """Its answer names the engines that did not answer it: without a result these make it `blocked`."""
    answer = parse_json(body)
    silent = [str(entry[0]) for entry in answer.get("unresponsive_engines") or []]
    if not answer["results"] and silent:
        detail = f"The engines that SearXNG asks did not answer it: {', '.join(silent)[:200]}."
        raise ApiError(f"{detail} Use another engine, or try later.", Outcome.BLOCKED)
    return answer


def _load_wikipedia(body: bytes) -> Any:
    """Each article with its address and licence: the same request asks for the site's (API:Siteinfo)."""
    answer = parse_json(body)
    if "error" in answer:
        limited = answer["error"].get("code") == "ratelimited"
        raise ApiError("Wikipedia refuses the search.", Outcome.RATE_LIMITED if limited else Outcome.ERROR)
    site, licence = answer["query"]["general"], answer["query"].get("rightsinfo", {}).get("text")
    base = urljoin("https://en.wikipedia.org", site["server"])
    for item in answer["query"]["search"]:
        name = quote(item["title"][:MAX_CHARACTERS].replace(" ", "_"), safe="/:,()'")
        item |= {"url": f"{base}{site['articlepath'].replace('$1', name, 1)}", "licence": licence}
    return answer


def _load_arxiv(body: bytes) -> list[Item]:
    """The entries of an Atom feed."""
    from lxml import etree  # imported at the first search: 20 ms

    try:
        feed = etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError as error:
        raise ValueError("no feed") from error
    items: list[Item] = []
    for entry in feed.findall("a:entry", _ATOM):
        names = ("a:id", "a:title", "a:summary", "a:published", "x:doi", "x:journal_ref")
        item: Item = {name[2:]: entry.findtext(name, "", _ATOM) for name in names}
        if "/api/errors" in item["id"]:
            raise ApiError(f"arXiv: {shorten(item['summary'])}. Use other words.")
        item |= {"url": item["id"].replace("http://", "https://", 1), "published": item["published"][:10]}
        item["authors"] = [name.text for name in entry.findall("a:author/a:name", _ATOM)]
        item["pdf"] = next((a.get("href") for a in entry.findall("a:link[@title='pdf']", _ATOM)), "")
        items.append(item)
    return items


def _ask_arxiv(asked: Asked) -> Mapping[str, Any]:
    """The papers with all content words of the query."""
    words = extract_keywords(asked.query) or asked.query
    plain = "".join(sign if sign.isalnum() else " " for sign in words).split()
    terms = [f"all:{word}" for word in plain[:8]]  # all of them must be in the paper
    if asked.reach.since or asked.reach.before:
        first, last = (asked.reach.since or "1991-01-01"), (asked.reach.before or "2999-01-01")
        terms.append(f"submittedDate:[{first.replace('-', '')}0000 TO {last.replace('-', '')}0000]")
    return {"search_query": " AND ".join(terms), "max_results": asked.most, "sortBy": "relevance"}


def _ask_europepmc(asked: Asked) -> Mapping[str, Any]:
    words = " ".join(asked.query.translate(_QUERY_SIGNS).split())
    if asked.reach.since or asked.reach.before:
        days = f"{asked.reach.since or '1500-01-01'} TO {asked.reach.before or '2999-01-01'}"
        words = f"({words}) AND (FIRST_PDATE:[{days}])"
    return {"query": words, "resultType": "core", "format": "json", "pageSize": asked.most}


def _find_open_pdf(item: Item) -> str:
    """The free PDF that Europe PMC knows."""
    texts = pick(item, "fullTextUrlList.fullTextUrl") or []
    free = [one for one in texts if one.get("availabilityCode") in ("OA", "F")]
    return next((one["url"] for one in free if one.get("documentStyle") == "pdf"), "")


def _find_licensed_pdf(item: Item) -> str:
    """The PDF that Crossref knows of a work under an open licence."""
    links = {link.get("content-type"): link["URL"] for link in reversed(item.get("link") or [])}
    is_open = "creativecommons.org" in (pick(item, "license.0.URL") or "")
    return str(links.get("application/pdf", "")) if is_open else ""


def _find_issue_day(item: Item) -> str:
    """Crossref's date of publication where it is a whole day."""
    day = [part for part in pick(item, "issued.date-parts.0") or [] if part]
    return "-".join(f"{part:02d}" for part in day) if len(day) == 3 else ""


def _join_abstract(item: Item) -> str:
    """The beginning of OpenAlex's abstract from its words and the places where each stands."""
    positions = item.get("abstract_inverted_index") or {}
    return " ".join(w[:100] for _, w in sorted((n, w) for w, at in positions.items() for n in at)[:500])


def _join_filters(*filters: tuple[str, str]) -> str:
    """The filters that have a value, as catalogues write them: "name:value,name:value"."""
    return ",".join(f"{name}:{value}" for name, value in filters if value)


APIS = {
    # docs.searxng.org/dev/search_api.html: an operator's own server that asks several engines
    "searxng": Api(
        "",
        lambda asked: {
            "q": add_site_operators(asked.query, asked.reach),
            "format": "json",
            "language": asked.reach.language,
            # it documents no week
            "time_range": {"d": "day", "w": "month", "m": "month", "y": "year"}.get(
                time_limit(asked.reach) or "", ""
            ),
        },
        "results",
        "url",
        "content",
        day="publishedDate",
        work={"doi": "doi", "authors": "authors", "journal": "journal", "pdf_url": "pdf_url"},
        load=_load_searxng,
        blocked_advice="Add json to search.formats in its settings.yml, and check its limiter.",
        locate=lambda config: f"{config.SEARXNG_URL.rstrip('/').removesuffix('/search')}/search",
    ),
    # api-dashboard.search.brave.com/app/documentation
    "brave": Api(
        "https://api.search.brave.com/res/v1/web/search",
        lambda asked: {
            "q": add_site_operators(asked.query, asked.reach),
            "count": min(asked.most, 20),
            "search_lang": asked.reach.language,
            "freshness": f"{asked.reach.since}to{asked.reach.before or f'{datetime.now(UTC):%Y-%m-%d}'}"
            if asked.reach.since
            else "",
            "text_decorations": "false",
        },
        "web.results",
        "url",
        "description",
        day="page_age",
        headers=lambda asked: {"X-Subscription-Token": asked.key, "Accept": "application/json"},
        may_lack_items=True,
    ),
    # docs.tavily.com, "Search"
    "tavily": Api(
        "https://api.tavily.com/search",
        lambda asked: {
            "query": asked.query,
            "max_results": min(asked.most, 20),
            "search_depth": "basic",
            "include_domains": [name.removeprefix("*.") for name in asked.reach.allowed_domains],
            "exclude_domains": [name.removeprefix("*.") for name in asked.reach.blocked_domains],
            "start_date": asked.reach.since,
            "end_date": asked.reach.before,
        },
        "results",
        "url",
        "content",
        day="published_date",
        headers=lambda asked: {"Authorization": f"Bearer {asked.key}"},
        is_posted=True,
    ),
    # www.mediawiki.org/wiki/API:Search, in the language of the run; its rules ask who asks to name an address
    "wikipedia": Api(
        "https://{language}.wikipedia.org/w/api.php",
        lambda asked: {
            "action": "query",
            "list": "search",
            "srsearch": asked.query,
            "srlimit": min(asked.most, 50),
            "srprop": "snippet",
            "meta": "siteinfo",
            "siprop": "general|rightsinfo",
            "format": "json",
            "formatversion": 2,
        },
        "query.search",
        "url",
        "snippet",
        work={"licence": "licence"},
        headers=lambda asked: {"User-Agent": f"{USER_AGENT} mailto:{asked.mail}"} if asked.mail else {},
        load=_load_wikipedia,
    ),
    # developers.openalex.org/api-reference/works
    "openalex": Api(
        "https://api.openalex.org/works",
        lambda asked: {
            "search": asked.query,
            "filter": _join_filters(
                ("from_publication_date", asked.reach.since),
                ("to_publication_date", asked.reach.before),
                ("language", asked.reach.language),
            ),
            "select": "id,doi,display_name,publication_date,authorships,primary_location,best_oa_location,"
            "abstract_inverted_index",
            "per_page": asked.most,
            "mailto": asked.mail,
            "api_key": asked.key,
        },
        "results",
        "primary_location.landing_page_url | doi | id",
        _join_abstract,
        title="display_name",
        day="publication_date",
        work={
            "doi": "doi",
            "authors": "authorships.*.author.display_name",
            "journal": "primary_location.source.display_name",
            "year": "publication_date",
            "licence": "best_oa_location.license | primary_location.license",
            "pdf_url": "best_oa_location.pdf_url",
        },
        limited=(403, 429),
    ),
    # api.crossref.org; github.com/CrossRef/rest-api-doc: what publishers registered with a DOI
    "crossref": Api(
        "https://api.crossref.org/works",
        lambda asked: {
            "query": asked.query,
            "filter": _join_filters(
                ("from-pub-date", asked.reach.since), ("until-pub-date", asked.reach.before)
            ),
            "select": "DOI,URL,title,author,container-title,issued,license,link,abstract",
            "rows": asked.most,
            "mailto": asked.mail,
        },
        "message.items",
        "URL",
        "abstract",
        prefers_doi=True,
        title="title.0",
        day=_find_issue_day,
        work={
            "doi": "DOI",
            "authors": lambda item: [  # given and family names, or the name of a group
                f"{one.get('given') or ''} {one.get('family') or ''}".strip() or one.get("name") or ""
                for one in item.get("author") or []
            ],
            "people": lambda item: {
                f"{one['given']} {one['family']}": f"{one['family']}, {one['given']}"
                for one in item.get("author") or []
                if one.get("given") and one.get("family")
            },
            "journal": "container-title.0",
            "year": "issued.date-parts.0.0",
            "licence": "license.0.URL",
            "pdf_url": _find_licensed_pdf,
        },
    ),
    # info.arxiv.org/help/api/user-manual.html: preprints. Its terms ask for one request in three seconds
    "arxiv": Api(
        "https://export.arxiv.org/api/query",
        _ask_arxiv,
        "",
        "url",
        "summary",
        day="published",
        work={
            "doi": "doi",
            "authors": "authors",
            "journal": "journal_ref",
            "year": "published",
            "pdf_url": "pdf",
        },
        load=_load_arxiv,
    ),
    # api.semanticscholar.org/api-docs/graph, paper relevance search; it asks to write hyphens as spaces
    "semanticscholar": Api(
        "https://api.semanticscholar.org/graph/v1/paper/search",
        lambda asked: {
            "query": asked.query.replace("-", " "),
            "limit": min(asked.most, 100),
            "fields": "title,abstract,url,year,publicationDate,authors,venue,journal,externalIds,"
            "openAccessPdf",
            "publicationDateOrYear": f"{asked.reach.since}:{asked.reach.before}"
            if asked.reach.since or asked.reach.before
            else "",
        },
        "data",
        lambda item: (
            f"https://arxiv.org/abs/{arxiv}" if (arxiv := pick(item, "externalIds.ArXiv")) else item["url"]
        ),
        "abstract",
        prefers_doi=True,
        day="publicationDate",
        work={
            "doi": "externalIds.DOI",
            "authors": "authors.*.name",
            "journal": "journal.name | venue",
            "year": "year",
            "licence": "openAccessPdf.license",
            "pdf_url": "openAccessPdf.url",
        },
        headers=lambda asked: {"x-api-key": asked.key} if asked.key else {},
        may_lack_items=True,
    ),
    # europepmc.org/RestfulWebService: papers and preprints of the life sciences
    "europepmc": Api(
        "https://www.ebi.ac.uk/europepmc/webservices/rest/search",
        _ask_europepmc,
        "resultList.result",
        lambda item: _find_open_pdf(item) or f"https://europepmc.org/article/{item['source']}/{item['id']}",
        "abstractText",
        prefers_doi=True,
        day="firstPublicationDate",
        work={
            "doi": "doi",
            "authors": lambda item: [
                pick(one, "fullName | collectiveName") for one in pick(item, "authorList.author") or []
            ],
            "people": lambda item: {
                one["fullName"]: f"{one['lastName']}, {one['firstName']}"
                for one in pick(item, "authorList.author") or []
                if one.get("fullName") and one.get("lastName") and one.get("firstName")
            },
            "journal": "journalInfo.journal.title",
            "year": "pubYear",
            "licence": "license",
            "pdf_url": _find_open_pdf,
        },
    ),
}
