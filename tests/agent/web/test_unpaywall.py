"""Unpaywall against a server on this machine that answers in its documented form."""

from __future__ import annotations

import pytest

from agent.settings.config import read_config
from agent.web.unpaywall import NO_EMAIL, OpenCopy, Unpaywall
from tests.web.engine_answers import DOI, reply
from tests.web.site import Reply, Site

EMAIL = "reader@heron.example"
BEST = {
    "url": "https://repo.example/heron",
    "url_for_pdf": "https://repo.example/heron.pdf",
    "url_for_landing_page": "https://repo.example/heron",
    "host_type": "repository",
    "license": "cc-by",
}


def find(page: Reply, email: str = EMAIL) -> tuple[OpenCopy, Site]:
    with Site({f"/v2/{DOI}": page}) as site:
        service = Unpaywall(
            read_config({"CONTACT_EMAIL": email, "ENGINE_URLS": f"unpaywall={site.url('/v2')}"})
        )
        return service.find_copy(DOI), site


def test_the_best_copy_with_its_licence() -> None:
    copy, site = find(reply({"doi": DOI, "is_oa": True, "best_oa_location": BEST}))
    assert copy == OpenCopy("https://repo.example/heron.pdf", "cc-by")
    assert site.asked[0].path == f"/v2/{DOI}?email=reader%40heron.example"


def test_without_an_address_nothing_is_sent_and_it_is_said() -> None:
    copy, site = find(reply({"best_oa_location": BEST}), email="")
    assert copy == OpenCopy(detail=NO_EMAIL) and not site.asked


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "told"),
    [
        (reply({"is_oa": False, "best_oa_location": None}), "knows no open copy"),
        (reply({"error": True}, 404), "does not know its DOI"),
        (reply({"error": True}, 422), "CONTACT_EMAIL"),
        (reply({}, 500), "did not answer"),
        (reply("<html>"), "did not answer"),
        (reply("[]"), "did not answer"),
        (Reply(200, b"{", ends="breaks off"), "did not answer"),
    ],
    ids=["closed", "unknown", "refused mail", "trouble", "html", "shape", "broken"],
)
def test_no_copy_comes_with_the_reason(page: Reply, told: str) -> None:
    copy, _ = find(page)
    assert copy.url == "" and told in copy.detail and EMAIL not in copy.detail
