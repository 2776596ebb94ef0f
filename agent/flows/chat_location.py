"""The facility finder: what is where, by kind and by distance, each row quoted from the table it stands in.

What the words mean a role reads; which rows fit, and how far they are, is code's. A kind or place that is not known is said so,
and asked for. Distances are great-circle, in kilometres.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.evidence import answers, confidence
from agent.evidence.quotes import verify
from agent.flows.chat_reading import hidden
from agent.flows.chat_state import Chat, Located, Nearby
from agent.roles.location import LOCATION, LocationReply
from agent.roles.role import Judgement
from agent.roles.support import Quoted, fact_id
from agent.state import Change
from agent.text.manners import asks, courtesy
from agent.text.places import Place, asks_nearest, coordinates, distance_km, facility_word, gazetteer, kinds_in, place_in
from agent.text.words import content_stems, stems
from agent.toolbox import Tools
from agent.types import Answer, Facility, Fact, Page, PageRef, Sentence

NONE = "The library has no facilities yet: add a CSV file with the columns name, kind, address, latitude and longitude."
LISTED = 6
"""Kinds or places that are named when one is to be chosen."""
PIECE = 8
"""Words of a turn that may be no more than a piece of the search before it."""
TRUST = 0.6


@dataclass(frozen=True)
class _Asked:
    """What is looked for. `place` None: no distance is wanted. `ask` is the question that has to be answered first, `choices` its answers."""

    kind: str
    place: Place | None
    near: str = ""
    most: int = 5
    ask: str = ""
    choices: tuple[str, ...] = ()


def facilities(state: Chat, tools: Tools) -> list[Facility]:
    """The facilities within the scope that was chosen."""
    invented = hidden(state, tools)
    return [facility for facility in tools.holdings.facilities(scope=state.settings.scope) if facility.source_id not in invented]


def kinds(known: Sequence[Facility]) -> list[str]:
    """The kinds of facilities there are, sorted."""
    return sorted({facility.kind for facility in known if facility.kind})


def continued(turns: Sequence[Chat], question: str, known: Sequence[Facility]) -> bool:
    """Was the turn before a facility search, and does this complete it: the answer to what it asked, or another kind or place alone?"""
    last = turns[0] if turns else None
    if last is None or last.route_decision != "LOCATION_SEARCH" or len(question.split()) > PIECE or courtesy(question):
        return False
    kind, place = kinds_in(question, kinds(known)), place_in(question, gazetteer(known))
    said = {stem for stem in content_stems(question) if not any(sign.isdigit() for sign in stem)}
    beside = said.difference(*(stems(name) for name in kind), *(stems(where.name) for where in place))
    named = bool(kind or place or coordinates(question) or last.needs_clarification)
    return named and (not asks(question) or len(beside) < 2)


def locate(state: Chat, tools: Tools) -> Change:
    """The change of a facility search: the rows found as facts, and the answer that lists them or asks what is missing."""
    known = facilities(state, tools)
    there, places = kinds(known), gazetteer(known)
    names = list(dict.fromkeys(place.name for found in places.values() for place in found))
    judgement = tools.judge(LOCATION, question=state.question, history=state.talk, kinds=there, places=names)
    asked = _understood(state.question, judgement.value, there, places) if known else _Asked("", None, ask=NONE)
    if asked.ask:
        answer = Answer(
            n=len(state.answers) + 1, verdict="no_evidence", reason="needs_clarification" if known else "not_covered", certainty=asked.ask,
            journey=_journey(state), step=tools.step, by=judgement.by, trouble=judgement.trouble,
        )  # fmt: skip
        located = Located(kind=asked.kind, near=asked.near)
        return {"located": located, "needs_clarification": asked.ask if known else None, "choices": list(asked.choices), "answers": [answer]}
    return _told(state, tools, asked, _nearest(known, asked), judgement)


def _understood(question: str, reply: LocationReply, there: list[str], places: dict[str, list[Place]]) -> _Asked:
    """What a reply means among the kinds and places that are known; with a question where it leaves something open."""
    kind = next((kind for kind in there if kind.casefold() == reply.kind.strip().casefold()), "") or next(iter(kinds_in(reply.kind, there)), "")
    near = reply.near.strip()
    if not kind:
        other = facility_word(question)
        lead = f"I know of no {other}. Does another kind help" if other else "Which kind of place do you look for"
        return _Asked("", None, near, ask=f"{lead}? I know {_listed(there)}.", choices=tuple(there[:LISTED]))
    point = coordinates(near)
    found = [Place(f"{point[0]:g}, {point[1]:g}", point, "coordinates")] if point else place_in(near, places)
    if len(found) > 1:
        names = [place.name for place in found]
        return _Asked(kind, None, near, ask=f"“{near}” could be {_listed(names, 'or')}. Which one do you mean?", choices=tuple(names[:LISTED]))
    if not found and (near or asks_nearest(question)):
        towns = sorted({place.name for known in places.values() for place in known if place.sort == "town"})
        lead = f"I do not know where “{near}” is." if near else f"Nearest to where? I can look for each {kind} from a place or a pair of coordinates."
        return _Asked(kind, None, near, ask=f"{lead} Places I know: {_listed(towns)}.", choices=tuple(towns[:LISTED]))
    return _Asked(kind, found[0] if found else None, near, most=reply.most)


def _nearest(known: Sequence[Facility], asked: _Asked) -> list[tuple[Facility, float | None]]:
    fitting = [facility for facility in known if facility.kind.casefold() == asked.kind.casefold()]
    if asked.place is None:
        by_name: list[tuple[Facility, float | None]] = [(facility, None) for facility in sorted(fitting, key=lambda facility: facility.name)]
        return by_name[: asked.most]
    origin = asked.place.point
    measured = [(facility, distance_km(origin, (facility.latitude, facility.longitude))) for facility in fitting]
    return list(sorted(measured, key=lambda pair: (pair[1], pair[0].name))[: asked.most])


def _told(state: Chat, tools: Tools, asked: _Asked, found: list[tuple[Facility, float | None]], judgement: Judgement) -> Change:
    pages: dict[str, Page] = {facility.source_id: tools.holdings.load(facility.source_id) for facility, _ in found}
    ids = {source_id: tools.keep(page) for source_id, page in pages.items()}
    facts = [
        _fact(tools, facility, pages[facility.source_id], ids[facility.source_id], _with_distance(_line(facility), km, asked))
        for facility, km in found
    ]
    written = [Sentence(text=fact.statement, fact_ids=[fact.id]) for fact in facts]
    by_id = {fact.id: fact for fact in facts}
    sentences, counted = answers.check(written, by_id)
    rows = [
        Nearby(name=f.name, kind=f.kind, address=f.address, latitude=f.latitude, longitude=f.longitude, km=km, fact_id=fact.id)
        for (f, km), fact in zip(found, facts, strict=True)
    ]
    level = confidence.assess(step=tools.step, facts=facts, conflicts=[], coverage=1.0)
    middle = "the middle of the places known in " if asked.place and asked.place.sort in ("town", "street") else ""
    from_ = f"from {middle}{asked.place.name}" if asked.place else ""
    answer = Answer(
        n=len(state.answers) + 1, verdict="answered", sentences=sentences, statements=counted, sources=answers.sources(sentences, by_id),
        certainty=f"Distances are as the crow flies, {from_}." if asked.place else "These are all places of that kind I know, by name.",
        journey=_journey(state), confidence=level.value, step=tools.step, by=judgement.by, trouble=judgement.trouble,
    )  # fmt: skip
    refs = [
        PageRef(url=page.final_url or page.url, final_url=page.final_url or page.url, page_id=ids[source_id], title=page.title, found_on="library",
                step=tools.step, facts=sum(fact.page_id == ids[source_id] for fact in facts))
        for source_id, page in pages.items()
    ]  # fmt: skip
    located = Located(kind=asked.kind, near=asked.place.name if asked.place else "", origin=asked.place.point if asked.place else None, rows=rows)
    return {"facts": facts, "pages": refs, "confidence": [level], "located": located, "answers": [answer], "needs_clarification": None}


def _line(facility: Facility) -> str:
    return f"{facility.name} ({facility.kind}){f', {facility.address}' if facility.address else ''}"


def _with_distance(line: str, km: float | None, asked: _Asked) -> str:
    return f"{line}{f', {_km(km)} from {asked.place.name}' if km is not None and asked.place else ''}."


def _km(km: float) -> str:
    return f"{km:.0f} km" if km >= 100 else f"{km:.1f} km"


def _fact(tools: Tools, facility: Facility, page: Page, page_id: str, told: str) -> Fact:
    """The facility's row as a fact. The quote is the row as it stands, and what it says is checked against that; `told` adds the distance,
    which code reckons from the row's coordinates."""
    rows = next((table.rows for table in page.tables if facility.row < len(table.rows) and facility.name in table.rows[facility.row]), [])
    quote = " | ".join(rows[facility.row]) if rows else facility.name
    fact = Fact(
        id=fact_id(Quoted(page_id, quote, told)), statement=_line(facility), quote=quote, page_id=page_id, url=page.final_url or page.url,
        title=page.title, fetched_at=page.fetched_at, published_at=page.published_at, subject=facility.name, trust=TRUST, relevance=1.0,
        step=tools.step, by="code",
    )  # fmt: skip
    return verify(fact, page.text, page.sha256).model_copy(update={"statement": told})


def _listed(names: Sequence[str], last: str = "and") -> str:
    shown = list(names[:LISTED])
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    mark = "; " if any("," in name for name in shown) else ", "
    return f"{mark.join(shown)}{more}" if more or len(shown) < 2 else f"{mark.join(shown[:-1])} {last} {shown[-1]}"


def _journey(state: Chat) -> str:
    return f"Route: {state.route_decision}." if state.route_decision else ""
