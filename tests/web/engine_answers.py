"""What the engines behind an HTTP API answer: their documented fields with invented content, and a live world
that asks a server on this machine instead of theirs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from agent.types import SearchResult, SourceFilter
from agent.web.world import World
from tests.web.site import Page, Reply, Site

KEYS = {
    "brave": {"BRAVE_API_KEY": "key-of-brave"},
    "tavily": {"TAVILY_API_KEY": "key-of-tavily"},
    "openalex": {"OPENALEX_API_KEY": "key-of-openalex", "CONTACT_EMAIL": "reader@heron.example"},
    "crossref": {"CONTACT_EMAIL": "reader@heron.example"},
    "semanticscholar": {"SEMANTIC_SCHOLAR_API_KEY": "key-of-s2"},
}
DOI = "10.5555/heron.12"

SEARXNG: dict[str, Any] = {
    "query": "heron",
    "number_of_results": 2,
    "results": [
        {
            "url": "https://birds.example/heron",
            "title": "Grey heron",
            "content": "A <b>wader</b>.",
            "engine": "bing",
            "publishedDate": "2024-05-02T00:00:00",
        },
        {
            "url": "https://paper.example/heron",
            "title": "Heron diets",
            "content": "",
            "authors": ["Ana Field"],
            "doi": DOI,
            "journal": "Waders",
            "publishedDate": None,
        },
    ],
    "answers": [],
    "corrections": [],
    "infoboxes": [],
    "suggestions": [],
    "unresponsive_engines": [["google", "CAPTCHA"]],
}
WIKIPEDIA: dict[str, Any] = {
    "batchcomplete": True,
    "query": {
        "general": {"server": "https://en.wikipedia.org", "articlepath": "/wiki/$1"},
        "rightsinfo": {"url": "https://licence.example/", "text": "Licence of Examples 4.0"},
        "search": [
            {
                "ns": 0,
                "title": "Grey heron (bird)",
                "pageid": 7,
                "snippet": 'The <span class="searchmatch">heron</span> &amp; its nest',
            }
        ],
    },
}
OPENALEX: dict[str, Any] = {
    "meta": {"count": 1, "page": 1, "per_page": 10},
    "results": [
        {
            "id": "https://openalex.org/W1",
            "doi": f"https://doi.org/{DOI.upper()}",
            "display_name": "Diets of herons",
            "publication_date": "2021-03-04",
            "publication_year": 2021,
            "authorships": [
                {"author": {"display_name": "Ana Field"}},
                {"author": {"display_name": "Bo Reed"}},
            ],
            "primary_location": {
                "landing_page_url": "https://doi.org/10.5555/heron.12",
                "source": {"display_name": "Waders"},
                "license": None,
            },
            "best_oa_location": {"pdf_url": "https://open.example/heron.pdf", "license": "cc-by"},
            "abstract_inverted_index": {"Herons": [0], "eat": [1, 3], "fish,": [2], "frogs.": [4]},
        },
        {"id": "https://openalex.org/W2", "display_name": "A bare work", "primary_location": None},
    ],
}
CROSSREF: dict[str, Any] = {
    "status": "ok",
    "message-type": "work-list",
    "message": {
        "total-results": 1,
        "items": [
            {
                "DOI": DOI.upper(),
                "URL": "http://dx.doi.org/10.5555/heron.12",
                "title": ["Diets of <i>herons</i>"],
                "author": [{"given": "Ana", "family": "Field"}, {"name": "The Heron Group"}],
                "container-title": ["Waders"],
                "issued": {"date-parts": [[2021, 3, 4]]},
                "license": [{"URL": "http://creativecommons.org/licenses/by/4.0/", "content-version": "vor"}],
                "link": [{"URL": "https://open.example/heron.pdf", "content-type": "application/pdf"}],
                "abstract": "<jats:p>Herons eat fish.</jats:p>",
            },
            {
                "DOI": "10.5555/bare",
                "title": ["A bare record"],
                "URL": "https://doi.org/10.5555/bare",
                "issued": {"date-parts": [[None]]},
            },
        ],
    },
}
ARXIV = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom">
  <entry>
    <id>http://arxiv.org/abs/2103.00001v2</id>
    <published>2021-03-04T09:00:00Z</published>
    <title>Diets of
      herons</title>
    <summary>Herons eat fish.</summary>
    <author><name>Ana Field</name></author>
    <author><name>Bo Reed</name></author>
    <arxiv:doi>10.5555/heron.12</arxiv:doi>
    <arxiv:journal_ref>Waders 7 (2021) 1-9</arxiv:journal_ref>
    <link href="http://arxiv.org/abs/2103.00001v2" rel="alternate" type="text/html"/>
    <link title="pdf" href="http://arxiv.org/pdf/2103.00001v2" rel="related" type="application/pdf"/>
  </entry>
</feed>"""
ARXIV_ERROR = """<feed xmlns="http://www.w3.org/2005/Atom"><entry>
  <id>http://arxiv.org/api/errors#too_long</id><title>Error</title><summary>query too long</summary>
</entry></feed>"""
EUROPEPMC: dict[str, Any] = {
    "hitCount": 1,
    "resultList": {
        "result": [
            {
                "id": "77",
                "source": "MED",
                "doi": DOI,
                "title": "Diets of herons.",
                "authorList": {"author": [{"fullName": "Field A"}, {"collectiveName": "Heron Group"}]},
                "journalInfo": {"journal": {"title": "Waders"}},
                "pubYear": "2021",
                "abstractText": "<h4>Aim</h4>Herons eat fish.",
                "license": "cc by",
                "fullTextUrlList": {
                    "fullTextUrl": [
                        {
                            "availabilityCode": "S",
                            "documentStyle": "pdf",
                            "url": "https://closed.example/a.pdf",
                        },
                        {
                            "availabilityCode": "OA",
                            "documentStyle": "pdf",
                            "url": "https://open.example/a.pdf",
                        },
                    ]
                },
                "firstPublicationDate": "2021-03-04",
            },
            {"id": "PPR9", "source": "PPR", "title": "A bare preprint"},
        ]
    },
}
SEMANTICSCHOLAR: dict[str, Any] = {
    "total": 2,
    "offset": 0,
    "data": [
        {
            "paperId": "a1",
            "title": "Diets of herons",
            "abstract": "Herons eat fish.",
            "url": "https://www.semanticscholar.org/paper/a1",
            "year": 2021,
            "publicationDate": "2021-03-04",
            "authors": [{"authorId": "1", "name": "Ana Field"}],
            "venue": "WADERS",
            "journal": {"name": "Waders"},
            "externalIds": {"DOI": DOI},
            "openAccessPdf": {"url": "https://open.example/heron.pdf", "status": "GREEN", "license": "CCBY"},
        },
        {
            "paperId": "a2",
            "title": "A preprint",
            "externalIds": {"ArXiv": "2103.00001"},
            "openAccessPdf": None,
        },
    ],
}
BRAVE: dict[str, Any] = {
    "type": "search",
    "web": {
        "results": [
            {
                "title": "Grey heron",
                "url": "https://birds.example/heron",
                "description": "A <strong>wader</strong>.",
                "page_age": "2024-05-02T10:00:00",
            }
        ]
    },
}
TAVILY: dict[str, Any] = {
    "query": "heron",
    "results": [
        {
            "title": "Grey heron",
            "url": "https://birds.example/heron",
            "content": "A wader.",
            "score": 0.9,
            "published_date": "Thu, 02 May 2024 10:00:00 GMT",
        }
    ],
}
ANSWERS: dict[str, Any] = {
    "searxng": SEARXNG,
    "brave": BRAVE,
    "tavily": TAVILY,
    "wikipedia": WIKIPEDIA,
    "openalex": OPENALEX,
    "crossref": CROSSREF,
    "arxiv": ARXIV,
    "semanticscholar": SEMANTICSCHOLAR,
    "europepmc": EUROPEPMC,
}
NOWHERE = ",".join(f"{name}=http://127.0.0.1:9/" for name in ANSWERS)
"""The setting that makes each of them ask where nobody listens."""
EMPTY: dict[str, Any] = {
    "searxng": {"results": [], "unresponsive_engines": []},
    "brave": {"type": "search"},
    "tavily": {"results": []},
    "wikipedia": {"query": {"general": WIKIPEDIA["query"]["general"], "search": []}},
    "openalex": {"results": []},
    "crossref": {"message": {"items": []}},
    "arxiv": '<feed xmlns="http://www.w3.org/2005/Atom"></feed>',
    "semanticscholar": {"total": 0, "offset": 0},
    "europepmc": {"hitCount": 0, "resultList": {"result": []}},
}


def reply(body: Any, status: int = 200, **headers: str) -> Reply:
    """A JSON answer, or one of another text."""
    text = body if isinstance(body, str) else json.dumps(body)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, text.encode(), named)


def point_at(site: Site, name: str) -> dict[str, str]:
    """The settings that make an engine ask the server on this machine, with its keys."""
    here = (
        {"SEARXNG_URL": site.url("/")}
        if name == "searxng"
        else {"ENGINE_URLS": f"{name}={site.url('/search')}"}
    )
    return here | KEYS.get(name, {})


def ask(
    live_world: Callable[..., World],
    name: str,
    page: Page,
    query: str = "grey heron diet",
    reach: SourceFilter | None = None,
    most: int = 5,
) -> tuple[SearchResult, Site]:
    """One search with an engine whose server answers `page`."""
    with Site({"/search": page}) as site:
        world = live_world(**point_at(site, name))
        return world.search(name, query, max_results=most, reach=reach or SourceFilter()), site
