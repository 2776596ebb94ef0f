"""Unpaywall: free copies of papers with a DOI (unpaywall.org/products/api). It requires an e-mail address."""

from __future__ import annotations

from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from agent.net.deadline import NoAnswer
from agent.settings.config import Config
from agent.web.engines.http_api import ApiClient
from agent.web.http_outcomes import MISREAD
from agent.web.rate_limit import HostRateLimiter

ADDRESS = "https://api.unpaywall.org/v2"
NO_EMAIL = "With CONTACT_EMAIL set, an open copy is looked for at Unpaywall."


class OpenCopy(NamedTuple):
    """Where an open copy is and its licence; or, with no address, why there is none, in a sentence."""

    url: str = ""
    licence: str = ""
    detail: str = ""


class Unpaywall:
    """The service. `find_copy` never raises for what the web does."""

    def __init__(self, config: Config, pace: HostRateLimiter | None = None) -> None:
        named = dict(entry.partition("=")[::2] for entry in config.ENGINE_URLS).get("unpaywall", "")
        self._url = named or ADDRESS
        self._email = config.CONTACT_EMAIL
        self._client = ApiClient([urlsplit(named).hostname or ""] if named else [], pace=pace)

    def find_copy(self, doi: str) -> OpenCopy:
        """The best open copy of a paper, a PDF where there is one."""
        if not self._email:
            return OpenCopy(detail=NO_EMAIL)
        try:
            response = self._client.send(f"{self._url}/{quote(doi, safe='/')}", {"email": self._email})
            if response.status == HTTPStatus.NOT_FOUND:
                return OpenCopy(detail="Unpaywall does not know its DOI.")
            if response.status == HTTPStatus.UNPROCESSABLE_ENTITY:
                return OpenCopy(detail="Unpaywall does not accept the e-mail address in CONTACT_EMAIL.")
            best = response.json().get("best_oa_location") if response.status == HTTPStatus.OK else {}
            if best is None:
                return OpenCopy(detail="Unpaywall knows no open copy.")
            url = best.get("url_for_pdf") or best.get("url") or ""
            if url:
                return OpenCopy(str(url), str(best.get("license") or ""))
        except (NoAnswer, *MISREAD):
            pass
        return OpenCopy(detail="Unpaywall did not answer.")
