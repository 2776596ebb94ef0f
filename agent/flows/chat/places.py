"""The facility finder: what is where, by kind and by distance, each row quoted from the table it stands in.

What the words mean a role reads; which rows fit, and how far they are, is code's. A kind or place that is not
known is said so, and asked for. Distances are great-circle, in kilometres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.evidence import citation_check, confidence
from agent.evidence.quote_match import verify_quote
from agent.flows.chat.retrieve import find_hidden_sources
from agent.flows.chat.state import ChatRun, FacilityHit, FacilitySearch
from agent.roles.chat.location import LOCATION, LocationReply
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
from agent.types import Answer, Facility, Fact, Page, PageRef, Sentence
from agent.types.facts import make_fact_id

NO_FACILITIES = "The library has no facilities yet: add a CSV file with the columns name, kind, address, latitude and longitude."
MAX_CHOICES = 6
"""Kinds or places that are named when one is to be chosen."""
MAX_FOLLOW_UP_WORDS = 8
"""Words of a turn that may be no more than a piece of the search before it."""
FACILITY_TRUST = 0.6


@dataclass(frozen=True)
class _FacilityQuery:
    """What is looked for. `place` None: no distance is wanted. `ask` is the question that has to be answered
    first, `choices` its answers."""

    kind: str
    place: Place | None
    near: str = ""
    most: int = 5
    ask: str = ""
    choices: tuple[str, ...] = ()


def load_facilities(state: ChatRun, tools: RunContext) -> list[Facility]:
    """The facilities within the scope that was chosen."""
    invented = find_hidden_sources(state, tools)
    return [
        facility
        for facility in tools.library.facilities(scope=state.settings.scope)
        if facility.source_id not in invented
    ]


def list_kinds(known: Sequence[Facility]) -> list[str]:
    """The kinds of facilities there are, sorted."""
    return sorted({facility.kind for facility in known if facility.kind})


def is_facility_follow_up(turns: Sequence[ChatRun], question: str, known: Sequence[Facility]) -> bool:
    """Was the turn before a facility search, and does this complete it: the answer to what it asked, or
    another kind or place alone?"""
    last = turns[0] if turns else None
    if (
        last is None
        or last.own.route_decision != "LOCATION_SEARCH"
        or len(question.split()) > MAX_FOLLOW_UP_WORDS
        or classify_small_talk(question)
    ):
        return False
    kind, place = (
        find_facility_kinds(question, list_kinds(known)),
        find_places(question, build_gazetteer(known)),
    )
    said = {stem for stem in content_stems(question) if not any(sign.isdigit() for sign in stem)}
    beside = said.difference(
        *(stem_words(name) for name in kind), *(stem_words(where.name) for where in place)
    )
    named = bool(kind or place or parse_coordinates(question) or last.own.needs_clarification)
    return named and (not is_question(question) or len(beside) < 2)


def find_facilities(state: ChatRun, tools: RunContext) -> Change:
    """The change of a facility search: the rows found as facts, and the answer that lists them or asks what
    is missing."""
    known = load_facilities(state, tools)
    there, places = list_kinds(known), build_gazetteer(known)
    names = list(dict.fromkeys(place.name for found in places.values() for place in found))
    judgement = tools.judge(
        LOCATION, question=state.question, history=state.substantive_turns, kinds=there, places=names
    )
    asked = (
        _resolve_query(state.question, judgement.value, there, places)
        if known
        else _FacilityQuery("", None, ask=NO_FACILITIES)
    )
    if asked.ask:
        answer = Answer(
            n=len(state.answers) + 1,
            verdict="no_evidence",
            reason="needs_clarification" if known else "not_covered",
            certainty=asked.ask,
            journey=_describe_route(state),
            step=tools.step,
            by=judgement.by,
            trouble=judgement.fallback_reason,
        )
        located = FacilitySearch(kind=asked.kind, near=asked.near)
        return {
            "located": located,
            "needs_clarification": asked.ask if known else None,
            "choices": list(asked.choices),
            "answers": [answer],
        }
    return _build_result(state, tools, asked, _select_facilities(known, asked), judgement)


def _resolve_query(
    question: str, reply: LocationReply, there: list[str], places: dict[str, list[Place]]
) -> _FacilityQuery:
    """What a reply means among the kinds and places that are known; with a question where it leaves something
    open."""
    kind = next((kind for kind in there if kind.casefold() == reply.kind.strip().casefold()), "") or next(
        iter(find_facility_kinds(reply.kind, there)), ""
    )
    near = reply.near.strip()
    if not kind:
        other = find_facility_word(question)
        lead = (
            f"I know of no {other}. Does another kind help"
            if other
            else "Which kind of place do you look for"
        )
        return _FacilityQuery(
            "", None, near, ask=f"{lead}? I know {_join_names(there)}.", choices=tuple(there[:MAX_CHOICES])
        )
    point = parse_coordinates(near)
    found = (
        [Place(f"{point[0]:g}, {point[1]:g}", point, "coordinates")] if point else find_places(near, places)
    )
    if len(found) > 1:
        names = [place.name for place in found]
        return _FacilityQuery(
            kind,
            None,
            near,
            ask=f"“{near}” could be {_join_names(names, 'or')}. Which one do you mean?",
            choices=tuple(names[:MAX_CHOICES]),
        )
    if not found and (near or is_nearest_request(question)):
        towns = sorted({place.name for known in places.values() for place in known if place.kind == "town"})
        lead = (
            f"I do not know where “{near}” is."
            if near
            else f"Nearest to where? I can look for each {kind} from a place or a pair of coordinates."
        )
        return _FacilityQuery(
            kind,
            None,
            near,
            ask=f"{lead} Places I know: {_join_names(towns)}.",
            choices=tuple(towns[:MAX_CHOICES]),
        )
    return _FacilityQuery(kind, found[0] if found else None, near, most=reply.most)


def _select_facilities(
    known: Sequence[Facility], asked: _FacilityQuery
) -> list[tuple[Facility, float | None]]:
    fitting = [facility for facility in known if facility.kind.casefold() == asked.kind.casefold()]
    if asked.place is None:
        by_name: list[tuple[Facility, float | None]] = [
            (facility, None) for facility in sorted(fitting, key=lambda facility: facility.name)
        ]
        return by_name[: asked.most]
    origin = asked.place.point
    measured = [
        (facility, distance_km(origin, (facility.latitude, facility.longitude))) for facility in fitting
    ]
    return list(sorted(measured, key=lambda pair: (pair[1], pair[0].name))[: asked.most])


def _build_result(
    state: ChatRun,
    tools: RunContext,
    asked: _FacilityQuery,
    found: list[tuple[Facility, float | None]],
    judgement: RoleResult,
) -> Change:
    pages: dict[str, Page] = {
        facility.source_id: tools.library.load(facility.source_id) for facility, _ in found
    }
    ids = {source_id: tools.store_page(page) for source_id, page in pages.items()}
    facts = [
        _build_fact(
            tools,
            facility,
            pages[facility.source_id],
            ids[facility.source_id],
            _with_distance(_describe_facility(facility), km, asked),
        )
        for facility, km in found
    ]
    written = [Sentence(text=fact.statement, fact_ids=[fact.id]) for fact in facts]
    by_id = {fact.id: fact for fact in facts}
    sentences, counted = citation_check.check_citations(written, by_id)
    rows = [
        FacilityHit(
            name=f.name,
            kind=f.kind,
            address=f.address,
            latitude=f.latitude,
            longitude=f.longitude,
            km=km,
            fact_id=fact.id,
        )
        for (f, km), fact in zip(found, facts, strict=True)
    ]
    level = confidence.assess_confidence(step=tools.step, facts=facts, conflicts=[], coverage=1.0)
    middle = (
        "the middle of the places known in " if asked.place and asked.place.kind in ("town", "street") else ""
    )
    from_ = f"from {middle}{asked.place.name}" if asked.place else ""
    answer = Answer(
        n=len(state.answers) + 1,
        verdict="answered",
        sentences=sentences,
        statements=counted,
        sources=citation_check.collect_sources(sentences, by_id),
        certainty=f"Distances are as the crow flies, {from_}."
        if asked.place
        else "These are all places of that kind I know, by name.",
        journey=_describe_route(state),
        confidence=level.value,
        step=tools.step,
        by=judgement.by,
        trouble=judgement.fallback_reason,
    )
    refs = [
        PageRef(
            url=page.final_url or page.url,
            final_url=page.final_url or page.url,
            page_id=ids[source_id],
            title=page.title,
            found_on="library",
            step=tools.step,
            facts=sum(fact.page_id == ids[source_id] for fact in facts),
        )
        for source_id, page in pages.items()
    ]
    located = FacilitySearch(
        kind=asked.kind,
        near=asked.place.name if asked.place else "",
        origin=asked.place.point if asked.place else None,
        rows=rows,
    )
    return {
        "facts": facts,
        "pages": refs,
        "confidence": [level],
        "located": located,
        "answers": [answer],
        "needs_clarification": None,
    }


def _describe_facility(facility: Facility) -> str:
    return f"{facility.name} ({facility.kind}){f', {facility.address}' if facility.address else ''}"


def _with_distance(line: str, km: float | None, asked: _FacilityQuery) -> str:
    return f"{line}{f', {_format_km(km)} from {asked.place.name}' if km is not None and asked.place else ''}."


def _format_km(km: float) -> str:
    return f"{km:.0f} km" if km >= 100 else f"{km:.1f} km"


def _build_fact(tools: RunContext, facility: Facility, page: Page, page_id: str, told: str) -> Fact:
    """The facility's row as a fact. The quote is the row as it stands, and what it says is checked against
    that; `told` adds the distance, which code reckons from the row's coordinates."""
    rows = next(
        (
            table.rows
            for table in page.tables
            if facility.row < len(table.rows) and facility.name in table.rows[facility.row]
        ),
        [],
    )
    quote = " | ".join(rows[facility.row]) if rows else facility.name
    fact = Fact(
        id=make_fact_id(page_id, quote, told or quote),
        statement=_describe_facility(facility),
        quote=quote,
        page_id=page_id,
        url=page.final_url or page.url,
        title=page.title,
        fetched_at=page.fetched_at,
        published_at=page.published_at,
        subject=facility.name,
        trust=FACILITY_TRUST,
        relevance=1.0,
        step=tools.step,
        by="code",
    )
    return verify_quote(fact, page.text, page.sha256).model_copy(update={"statement": told})


def _join_names(names: Sequence[str], last: str = "and") -> str:
    shown = list(names[:MAX_CHOICES])
    more = f" and {len(names) - MAX_CHOICES} more" if len(names) > MAX_CHOICES else ""
    mark = "; " if any("," in name for name in shown) else ", "
    return (
        f"{mark.join(shown)}{more}"
        if more or len(shown) < 2
        else f"{mark.join(shown[:-1])} {last} {shown[-1]}"
    )


def _describe_route(state: ChatRun) -> str:
    return f"Route: {state.own.route_decision}." if state.own.route_decision else ""
