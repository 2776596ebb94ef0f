"""The facility finder: facilities of a kind by distance, each row quoted from its table.

A role reads the words; code selects the rows and measures great-circle distances in kilometres. An unknown
kind or place is reported, and asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.answering.confidence import assess_confidence
from agent.answering.draft import build_fact_from_quote
from agent.answering.pages import find_hidden_sources, refer_to_stored
from agent.answering.plan import assign_parts
from agent.answering.verdict import no_answer, record_answer
from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.evidence.citation_check import check_support, collect_sources, count_statements
from agent.flows.chat.state import ChatRun, FacilityHit, FacilitySearch
from agent.flows.chat.write import describe_journey
from agent.retrieval.answer import Quotation
from agent.roles.chat import LOCATION
from agent.roles.role import RoleResult
from agent.text.geo import (
    Place,
    build_gazetteer,
    distance_km,
    find_places,
    parse_coordinates,
)
from agent.types import Answer, AnswerBlock, Facility, Fact, Page, Reason, Sentence
from agent.types.facts import make_fact_id

NO_FACILITIES = (
    "The library has no facilities yet: add a CSV file with the columns name, kind, address, latitude and "
    "longitude."
)
MAX_CHOICES = 6
"""Kinds or places that are listed when one is to be chosen."""


def load_facilities(state: ChatRun, tools: RunContext) -> list[Facility]:
    """The facilities within the chosen scope."""
    hidden = find_hidden_sources(state, tools)
    facilities = tools.library.facilities(scope=state.settings.scope)
    return [facility for facility in facilities if facility.source_id not in hidden]


def list_kinds(facilities: Sequence[Facility]) -> list[str]:
    """The kinds of facilities, sorted."""
    return sorted({facility.kind for facility in facilities if facility.kind})


def find_facilities(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Find facilities of a kind: the rows as facts, and an answer that lists them or asks back. Kind and
    place of the role's reply must be among the known ones."""
    facilities = load_facilities(state, tools)
    kinds, places = list_kinds(facilities), build_gazetteer(facilities)
    names = list(dict.fromkeys(place.name for found in places.values() for place in found))
    judgement = tools.judge(
        LOCATION, question=state.question, history=state.history, kinds=kinds, places=names
    )
    near, wanted = judgement.value.near.strip(), judgement.value.kind.strip().casefold()
    kind = next((kind for kind in kinds if kind.casefold() == wanted), "")
    point = parse_coordinates(near)
    found = [Place(f"{point[0]:g}, {point[1]:g}", point, "coordinates")] if point else []
    found = found or find_places(near, places)
    ask, choices = "", list[str]()
    if not facilities:
        ask = NO_FACILITIES
    elif not kind:
        choices = kinds
        ask = f"Which kind of place are you looking for? I know {_join_names(kinds)}."
    elif len(found) > 1:
        choices = [place.name for place in found]
        ask = f"“{near}” could be {_join_names(choices, 'or')}. Which one do you mean?"
    elif not found and (near or judgement.value.is_by_distance):
        choices = sorted({p.name for named in places.values() for p in named if p.kind == "town"})
        anywhere = f"Nearest to where? I can look for each {kind} from a place or a pair of coordinates."
        ask = f"I do not know where “{near}” is." if near else anywhere
        ask += f" Places I know: {_join_names(choices)}."
    if not ask:
        of_kind = [facility for facility in facilities if facility.kind.casefold() == wanted]
        place = found[0] if found else None
        return _list_facilities(state, tools, of_kind, place, judgement), "end"
    reason: Reason = "needs_clarification" if facilities else "not_covered"
    answer = no_answer(state, tools.step, reason, ask, by=judgement, journey=describe_journey(state))
    change = {
        "located": FacilitySearch(kind=kind, near=near),
        "needs_clarification": ask if facilities else None,
        "choices": choices[:MAX_CHOICES],
        "answers": [answer],
    }
    return change, "end"


def _list_facilities(
    state: ChatRun,
    tools: RunContext,
    facilities: Sequence[Facility],
    place: Place | None,
    judgement: RoleResult,
) -> Change:
    """The change of an answer that lists these facilities, the nearest to a place first, or by name. A fact
    quotes the row, and its statement adds the distance."""
    pages, ids = dict[str, Page](), dict[str, str]()
    rows, facts = list[FacilityHit](), list[Fact]()
    origin = place.point if place else None
    far = [distance_km(origin, (one.latitude, one.longitude)) if origin else None for one in facilities]
    pairs = sorted(zip(facilities, far, strict=True), key=lambda pair: (pair[1] or 0.0, pair[0].name))
    for facility, km in pairs[: judgement.value.most]:
        source = facility.source_id
        if source not in pages:
            pages[source] = tools.library.load(source)
            ids[source] = tools.store_page(pages[source])
        away = f"{km:.0f}" if km is not None and km >= 100 else f"{km:.1f}" if km is not None else ""
        distance = f", {away} km from {place.name}" if place and away else ""
        page, page_id = pages[source], ids[source]
        tables = (table.rows for table in page.tables if facility.row < len(table.rows))
        found = (rows[facility.row] for rows in tables if facility.name in rows[facility.row])
        quote = " | ".join(next(found, [facility.name]))  # its row; the distance is computed by code
        described = ", ".join(filter(None, [f"{facility.name} ({facility.kind})", facility.address]))
        quotation = Quotation(page_id, quote, described, facility.name, score=1.0)
        fact, statement = (
            build_fact_from_quote("", tools, page, quotation, by="code"),
            f"{described}{distance}.",
        )
        name = make_fact_id(page_id, quote, statement)
        facts.append(fact.replace(id=name, statement=statement))
        stated = facility.model_dump(include={"name", "kind", "address", "latitude", "longitude"})
        rows.append(FacilityHit(**stated, km=km, fact_id=facts[-1].id))
    facts = assign_parts(state.plan, facts)
    by_id = {fact.id: fact for fact in facts}
    said = [Sentence(text=fact.statement, fact_ids=[fact.id], block="b") for fact in facts]
    sentences = check_support(said, by_id)
    middle = "the middle of the places known in " if place and place.kind in ("town", "street") else ""
    crow = f"Distances are as the crow flies, from {middle}{place.name}." if place else ""
    answer = Answer(
        n=len(state.answers) + 1,
        verdict="answered",
        blocks=[AnswerBlock(id="b", kind="list" if len(facts) > 1 else "paragraph")],
        sentences=sentences,
        statements=count_statements(sentences),
        sources=collect_sources(sentences, by_id),
        certainty=crow or "These are all places of that kind I know, by name.",
        journey=describe_journey(state),
        step=tools.step,
        by=judgement.by,
        trouble=judgement.failure,
    )
    refs = [
        refer_to_stored(
            page,
            ids[source],
            "library",
            tools.step,
            facts=sum(fact.page_id == ids[source] for fact in facts),
        )
        for source, page in pages.items()
    ]
    searched = FacilitySearch(near=place.name if place else "", origin=origin, rows=rows)
    change: Change = {
        "facts": facts,
        "pages": refs,
        "located": searched.replace(kind=facilities[0].kind),
        "needs_clarification": None,
    }
    level = assess_confidence(state_after(state, change), tools.step, answer=answer)
    return record_answer(answer.replace(confidence=level.value if level else None), change)


def _join_names(names: Sequence[str], last: str = "and") -> str:
    shown, rest = list(names[:MAX_CHOICES]), len(names) - MAX_CHOICES
    mark = "; " if any("," in name for name in shown) else ", "
    if rest > 0 or len(shown) < 2:
        return mark.join(shown) + (f" and {rest} more" if rest > 0 else "")
    return f"{mark.join(shown[:-1])} {last} {shown[-1]}"
