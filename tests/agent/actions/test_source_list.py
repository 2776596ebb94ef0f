"""The list of a run's domains tells what each gave, which have the same text, and how far its signs go."""

from __future__ import annotations

from agent.actions.sources import group_by_domain
from agent.engine.run_state import RunState
from agent.engine.state import merge, to_jsonable
from agent.evidence.sources import DEFAULT_TRUST
from agent.types import Fact, PageRef
from tests.records import fill


def fact(name: str, statement: str, url: str) -> Fact:
    given = {"statement": statement, "quote": statement, "url": url, "page_id": f"p{name}", "sha256": name}
    return Fact(id=name, verified=True, relevance=0.9, trust=0.6, **given)


COPY = "Berga dairy, the oldest of the valley, was founded in 1974 by two sisters of the village school."
FACTS = [
    fact("a", "Berga dairy was founded in 1974.", "https://www.one.example/a"),
    fact("c", COPY, "https://three.example/c"),
    fact("d", COPY, "https://four.example/d"),
]
PAGES = [fill(PageRef, url=FACTS[0].url, page_id="pa", trust=0.65, trust_why=["dated"])]


def test_the_domains_with_their_facts_copies_and_signs():
    state = merge(RunState(question="When?"), to_jsonable({"facts": FACTS, "pages": PAGES}))
    found = {domain.name: domain for domain in group_by_domain(state)}
    assert list(found) == ["one.example", "four.example", "three.example"], "those with pages first"
    assert found["three.example"].copies == ["four.example"] and found["one.example"].copies == []
    one = found["one.example"]
    assert (one.trust, one.reasons, len(one.pages)) == (0.6, ["dated"], 1)


def test_a_domain_without_a_sign_has_the_ordinary_trust():
    page = fill(
        PageRef, url="https://one.example/", page_id="p", trust_why=["nothing speaks for or against it"]
    )
    state = merge(RunState(question="When?"), to_jsonable({"pages": [page]}))
    assert [(one.trust, one.reasons) for one in group_by_domain(state)] == [(DEFAULT_TRUST, [])]
