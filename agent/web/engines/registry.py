"""The adapters of the engines that are set up, and why each other engine is absent."""

from __future__ import annotations

from collections.abc import Callable

from agent.config import Config
from agent.key_addresses import explain_unused_key
from agent.types import ENGINES
from agent.web.engines.arxiv import ArXiv
from agent.web.engines.brave import Brave
from agent.web.engines.crossref import Crossref
from agent.web.engines.duckduckgo import DuckDuckGo
from agent.web.engines.europepmc import EuropePMC
from agent.web.engines.google import Google
from agent.web.engines.openalex import OpenAlex
from agent.web.engines.searxng import SearXNG
from agent.web.engines.semanticscholar import SemanticScholar
from agent.web.engines.tavily import Tavily
from agent.web.engines.wikipedia import Wikipedia
from agent.web.search_results import SearchEngine

_ADAPTERS: tuple[Callable[[Config], SearchEngine], ...] = (
    DuckDuckGo,
    Google,
    SearXNG,
    Brave,
    Tavily,
    Wikipedia,
    OpenAlex,
    Crossref,
    ArXiv,
    SemanticScholar,
    EuropePMC,
)
"""In the order of ENGINES."""
SWITCHED_OFF = "switched off"


def build_engines(config: Config) -> tuple[list[SearchEngine], dict[str, str]]:
    """The engines that may be asked, in the order of the registry, and the others with the reason."""
    found: list[SearchEngine] = []
    absent: dict[str, str] = {}
    for profile, adapter in zip(ENGINES, _ADAPTERS, strict=True):
        missing = [name for name in profile.needs if not getattr(config, name)]
        unused = [told for name in profile.needs if (told := explain_unused_key(config, name))]
        if profile.name in config.ENGINES_OFF:
            absent[profile.name] = SWITCHED_OFF
        elif missing:
            absent[profile.name] = f"no {' and '.join(missing)} set"
        elif unused:
            absent[profile.name] = " ".join(unused)
        else:
            found.append(adapter(config))
    return found, absent
