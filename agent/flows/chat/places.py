"""The facility finder: facilities of a kind by distance, each row quoted from its table.

A role reads the words; code selects the rows and measures great-circle distances in kilometres. An unknown
kind or place is reported, and asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.answering import verdict
from agent.answering.confidence import assess_confidence
from agent.answering.draft import build_fact_from_quote
from agent.answering.pages import find_hidden_sources
from agent.answering.plan import assign_parts
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.evidence import citation_check
from agent.flows.chat.state import ChatRun, FacilityHit, FacilitySearch
from agent.retrieval.answer import Quotation
from agent.roles.chat import LOCATION, LocationReply
from agent.roles.role import RoleResult
from agent.text.dialogue_acts import classify_small_talk, is_question
from agent.text.geo import (
    Place,
    build_gazetteer,
    distance_km,
    find_facility_kinds,
    find_facility_word,
    find_places,
    is_nearest_request,
    parse_coordinates,
)
from agent.text.tokens import content_stems, stem_words
from agent.types import Answer, AnswerBlock, Facility, Fact, Page, PageRef, Reason, Sentence
from agent.types.facts import make_fact_id

NO_FACILITIES = (
    "The library has no facilities yet: add a CSV file with the columns name, kind, address, latitude and "
    "longitude."
)
MAX_CHOICES = 6
"""Kinds or places that are listed when one is to be chosen."""
MAX_FOLLOW_UP_WORDS = 8
"""Words of a turn that may only continue the search before it."""
FACILITY_TRUST = 0.6


@dataclass(frozen=True)
class _FacilityQuery:
    """What is looked for: a kind, and the place distances are measured from (None: no distance).

    `ask` is a question to the person that must be answered first, `choices` its answers."""

    kind: str
    place: Place | None = None
    near: str = ""
    most: int = 5
    ask: str = ""
    choices: Sequence[str] = ()


_Found = tuple[Facility, float | None]
"""A facility and its distance in kilometres, None when none is wanted."""


def load_facilities(state: ChatRun, tools: RunContext) -> list[Facility]:
    """The facilities within the chosen scope."""
    hidden = find_hidden_sources(state, tools)
    facilities = tools.library.facilities(scope=state.settings.scope)
    return [facility for facility in facilities if facility.source_id not in hidden]


def list_kinds(facilities: Sequence[Facility]) -> list[str]:
    """The kinds of facilities, sorted."""
    return sorted({facility.kind for facility in facilities if facility.kind})


def is_facility_follow_up(turns: Sequence[ChatRun], question: str, facilities: Sequence[Facility]) -> bool:
    """Whether a short turn continues the facility search before it: it answers what was asked back, or names
    another kind or place. Used without a model."""
    last = turns[0] if turns else None
    if not last or last.own.route_decision != "LOCATION_SEARCH" or classify_small_talk(question):
        return False
    kinds = find_facility_kinds(question, list_kinds(facilities))
    places = find_places(question, build_gazetteer(facilities))
    words = {stem for stem in content_stems(question) if not any(sign.isdigit() for sign in stem)}
    others = words.difference(*map(stem_words, kinds), *(stem_words(place.name) for place in places))
    is_named = bool(kinds or places or parse_coordinates(question) or last.own.needs_clarification)
    is_short = len(question.split()) <= MAX_FOLLOW_UP_WORDS
    return is_short and is_named and (not is_question(question) or len(others) < 2)


def find_facilities(state: ChatRun, tools: RunContext) -> Change:
    """The change of a facility search: the rows as facts, and an answer that lists them or asks back."""
    facilities = load_facilities(state, tools)
    kinds, places = list_kinds(facilities), build_gazetteer(facilities)
    names = list(dict.fromkeys(place.name for found in places.values() for place in found))
    judgement = tools.judge(
        LOCATION, question=state.question, history=state.substantive_turns, kinds=kinds, places=names
    )
    query = _FacilityQuery("", ask=NO_FACILITIES)
    if facilities:
        query = _resolve_query(state.question, judgement.value, kinds, places)
    if not query.ask:
        return _build_result(state, tools, query, _select_facilities(facilities, query), judgement)
    reason: Reason = "needs_clarification" if facilities else "not_covered"
    answer = verdict.no_answer(
        state, tools.step, reason, query.ask, by=judgement, journey=_describe_route(state)
    )
    return {
        "located": FacilitySearch(kind=query.kind, near=query.near),
        "needs_clarification": query.ask if facilities else None,
        "choices": list(query.choices),
        "answers": [answer],
    }


def _resolve_query(
    question: str, reply: LocationReply, kinds: list[str], places: dict[str, list[Place]]
) -> _FacilityQuery:
    """The kind and place of a reply among the known ones, or a question where it leaves something open."""
    kind = next((kind for kind in kinds if kind.casefold() == reply.kind.strip().casefold()), "")
    near = reply.near.strip()
    if not kind:
        other = find_facility_word(question)
        unknown = f"I know of no {other}. Does another kind help?"
        ask = unknown if other else "Which kind of place are you looking for?"
        return _FacilityQuery(
            "", near=near, ask=f"{ask} I know {_join_names(kinds)}.", choices=kinds[:MAX_CHOICES]
        )
    if point := parse_coordinates(near):
        found = [Place(f"{point[0]:g}, {point[1]:g}", point, "coordinates")]
    else:
        found = find_places(near, places)
    if len(found) > 1:
        names = [place.name for place in found]
        ask = f"“{near}” could be {_join_names(names, 'or')}. Which one do you mean?"
        return _FacilityQuery(kind, near=near, ask=ask, choices=names[:MAX_CHOICES])
    if not found and (near or is_nearest_request(question)):
        towns = sorted({place.name for named in places.values() for place in named if place.kind == "town"})
        unknown = f"I do not know where “{near}” is."
        ask = f"Nearest to where? I can look for each {kind} from a place or a pair of coordinates."
        ask = f"{unknown if near else ask} Places I know: {_join_names(towns)}."
        return _FacilityQuery(kind, near=near, ask=ask, choices=towns[:MAX_CHOICES])
    return _FacilityQuery(kind, found[0] if found else None, near, most=reply.most)


def _select_facilities(facilities: Sequence[Facility], query: _FacilityQuery) -> list[_Found]:
    """The facilities of the kind, the nearest first, or by name without a place."""
    matching = [facility for facility in facilities if facility.kind.casefold() == query.kind.casefold()]
    origin = query.place.point if query.place else None
    found: list[_Found] = [
        (facility, distance_km(origin, (facility.latitude, facility.longitude)) if origin else None)
        for facility in matching
    ]
    return sorted(found, key=lambda pair: (pair[1] or 0.0, pair[0].name))[: query.most]


def _build_result(
    state: ChatRun, tools: RunContext, query: _FacilityQuery, found: list[_Found], judgement: RoleResult
) -> Change:
    pages = {name: tools.library.load(name) for name in dict.fromkeys(f.source_id for f, _ in found)}
    ids = {name: tools.store_page(page) for name, page in pages.items()}
    facts = [
        _build_fact(tools, facility, pages[facility.source_id], ids[facility.source_id], _distance(km, query))
        for facility, km in found
    ]
    rows = [
        FacilityHit(
            **facility.model_dump(include={"name", "kind", "address", "latitude", "longitude"}),
            km=km,
            fact_id=fact.id,
        )
        for (facility, km), fact in zip(found, facts, strict=True)
    ]
    facts = assign_parts(state.plan, facts)
    level = assess_confidence(state, tools.step, facts, model=1.0).replace(model=None)
    refs = [
        PageRef(
            url=page.final_url or page.url,
            final_url=page.final_url or page.url,
            page_id=ids[name],
            title=page.title,
            found_on="library",
            step=tools.step,
            facts=sum(fact.page_id == ids[name] for fact in facts),
        )
        for name, page in pages.items()
    ]
    near, origin = (query.place.name, query.place.point) if query.place else ("", None)
    return {
        "facts": facts,
        "pages": refs,
        "confidence": [level],
        "located": FacilitySearch(kind=query.kind, near=near, origin=origin, rows=rows),
        "answers": [_build_answer(state, tools.step, query.place, facts, level.value, judgement)],
        "needs_clarification": None,
    }


def _build_answer(
    state: ChatRun, step: int, place: Place | None, facts: list[Fact], value: float, judgement: RoleResult
) -> Answer:
    by_id = {fact.id: fact for fact in facts}
    sentences, counts = citation_check.check_citations(
        [Sentence(text=fact.statement, fact_ids=[fact.id], block="b") for fact in facts], by_id
    )
    certainty = "These are all places of that kind I know, by name."
    if place:
        middle = "the middle of the places known in " if place.kind in ("town", "street") else ""
        certainty = f"Distances are as the crow flies, from {middle}{place.name}."
    return Answer(
        n=len(state.answers) + 1,
        verdict="answered" if judgement.by == "model" else "passages_found",
        blocks=[AnswerBlock(id="b", kind="list" if len(facts) > 1 else "paragraph")],
        sentences=sentences,
        statements=counts,
        sources=citation_check.collect_sources(sentences, by_id),
        certainty=certainty,
        journey=_describe_route(state),
        confidence=value,
        step=step,
        by=judgement.by,
        trouble=judgement.fallback_reason,
    )


def _distance(km: float | None, query: _FacilityQuery) -> str:
    if km is None or query.place is None:
        return ""
    return f", {km:.0f} km from {query.place.name}" if km >= 100 else f", {km:.1f} km from {query.place.name}"


def _build_fact(tools: RunContext, facility: Facility, page: Page, page_id: str, distance: str) -> Fact:
    """The facility's row as a fact. The quote is the row; the statement adds the distance, computed by
    code."""
    tables = (
        table.rows
        for table in page.tables
        if facility.row < len(table.rows) and facility.name in table.rows[facility.row]
    )
    rows = next(tables, None)
    quote = " | ".join(rows[facility.row]) if rows else facility.name
    address = f", {facility.address}" if facility.address else ""
    described = f"{facility.name} ({facility.kind}){address}"
    quotation = Quotation(page_id, quote, described, facility.name, score=1.0)
    fact = build_fact_from_quote("", tools, page, quotation, by="code")
    name = make_fact_id(page_id, quote, f"{described}{distance}.")
    return fact.replace(id=name, statement=f"{described}{distance}.", trust=FACILITY_TRUST)


def _join_names(names: Sequence[str], last: str = "and") -> str:
    shown, rest = list(names[:MAX_CHOICES]), len(names) - MAX_CHOICES
    mark = "; " if any("," in name for name in shown) else ", "
    if rest > 0 or len(shown) < 2:
        return mark.join(shown) + (f" and {rest} more" if rest > 0 else "")
    return f"{mark.join(shown[:-1])} {last} {shown[-1]}"


def _describe_route(state: ChatRun) -> str:
    return f"Route: {state.own.route_decision}." if state.own.route_decision else ""
