"""The engines that are set up, and why each other engine is absent."""

from __future__ import annotations

from agent.settings.config import Config
from agent.settings.key_addresses import explain_unused_key
from agent.types import ENGINES
from agent.web.engines.duckduckgo import DuckDuckGo
from agent.web.engines.google import Google
from agent.web.engines.http_api import ApiEngine
from agent.web.search_results import SearchEngine

SWITCHED_OFF = "switched off"


def build_engines(config: Config) -> tuple[list[SearchEngine], dict[str, str]]:
    """The engines that may be asked, in the order of the registry, and the others with the reason."""
    found: list[SearchEngine] = []
    absent: dict[str, str] = {}
    for profile in ENGINES:
        missing = [name for name in profile.needs if not getattr(config, name)]
        unused = [told for name in profile.needs if (told := explain_unused_key(config, name))]
        if profile.name in config.ENGINES_OFF:
            absent[profile.name] = SWITCHED_OFF
        elif missing:
            absent[profile.name] = f"no {' and '.join(missing)} set"
        elif unused:
            absent[profile.name] = " ".join(unused)
        elif profile.name == "duckduckgo":
            found.append(DuckDuckGo(config))
        elif profile.name == "google":
            found.append(Google(config))
        else:
            found.append(ApiEngine(config, profile.name))
    return found, absent
