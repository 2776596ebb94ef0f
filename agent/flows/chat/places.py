"""The facility finder: a role reads the words; code selects rows of tables, measures, and quotes each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agent.answering.claim_checks import WrittenDraft
from agent.answering.draft import build_fact_from_quote
from agent.answering.fact_view import find_part
from agent.answering.pages import find_hidden_sources, refer_to_stored
from agent.answering.verdict import RUNNING_TEXT, finish_answer, record_answer
from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.evidence.citation_check import check_support
from agent.flows.chat.state import ChatRun, FacilityHit, FacilitySearch
from agent.flows.chat.write import describe_journey, refuse
from agent.retrieval.answer import Quotation
from agent.roles.chat import LOCATION
from agent.roles.role import RoleResult
from agent.text.geo import Place, build_gazetteer, distance_km, find_places, parse_coordinates
from agent.types import AnswerBlock, Facility, Fact, Page, Reason, Sentence

MAX_CHOICES = 6
"""Kinds or places that are listed when one is to be chosen."""


def load_facilities(state: ChatRun, tools: RunContext) -> tuple[list[Facility], list[str]]:
    """The facilities within the chosen scope, and their kinds, sorted."""
    hidden = find_hidden_sources(state, tools)
    found = tools.library.facilities(scope=state.settings.scope)
    found = [facility for facility in found if facility.source_id not in hidden]
    return found, sorted({facility.kind for facility in found if facility.kind})


def find_facilities(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Find facilities of a kind: the rows as facts, and an answer that lists them or asks back."""
    facilities, kinds = load_facilities(state, tools)
    places = build_gazetteer(facilities)
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
        ask = "The library has no facilities yet: add a CSV file with the columns name, kind, address, "
        ask += "latitude and longitude."
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
        return _list_facilities(state, tools, of_kind, found[0] if found else None, judgement), "end"
    reason: Reason = "needs_clarification" if facilities else "not_covered"
    change = {
        "located": FacilitySearch(kind=kind, near=near),
        "needs_clarification": ask if facilities else None,
        "choices": choices[:MAX_CHOICES],
        "answers": [refuse(state, tools.step, reason, ask, by=judgement)],
    }
    return change, "end"


def _list_facilities(
    state: ChatRun,
    tools: RunContext,
    facilities: Sequence[Facility],
    place: Place | None,
    judgement: RoleResult,
) -> Change:
    """The change of an answer that lists these facilities, the nearest to a place first, or by name."""
    pages, rows, facts = dict[str, tuple[Page, str]](), list[FacilityHit](), list[Fact]()
    origin = place.point if place else None

    def measure(facility: Facility) -> float | None:
        return distance_km(origin, (facility.latitude, facility.longitude)) if origin else None

    nearest = sorted(facilities, key=lambda facility: (measure(facility) or 0.0, facility.name))
    for facility in nearest[: judgement.value.most]:
        if facility.source_id not in pages:
            page = tools.library.load(facility.source_id)
            pages[facility.source_id] = page, tools.store_page(page)
        page, page_id = pages[facility.source_id]
        tables = (table.rows for table in page.tables if facility.row < len(table.rows))
        found = (rows[facility.row] for rows in tables if facility.name in rows[facility.row])
        quote = " | ".join(next(found, [facility.name]))  # its row; the distance is computed by code
        km, where = measure(facility), [f"{facility.name} ({facility.kind})", facility.address]
        where += [f"{km:.1f} km from {place.name}"] if place and km is not None else []
        quotation = Quotation(page_id, quote, f"{', '.join(filter(None, where))}.", facility.name, score=1.0)
        facts.append(build_fact_from_quote("", tools, page, quotation, by="code"))
        stated = facility.model_dump(include={"name", "kind", "address", "latitude", "longitude"})
        rows.append(FacilityHit(**stated, km=km, fact_id=facts[-1].id))
    facts = [fact.replace(part=find_part(state.plan, fact)) for fact in facts]
    counts = Counter(fact.page_id for fact in facts)
    change: Change = {
        "facts": facts,
        "pages": [
            refer_to_stored(page, page_id, "library", tools.step, facts=counts[page_id])
            for page, page_id in pages.values()
        ],
        "located": FacilitySearch(
            kind=facilities[0].kind, near=place.name if place else "", origin=origin, rows=rows
        ),
        "needs_clarification": None,
    }
    said = [Sentence(text=fact.statement, fact_ids=[fact.id], block=RUNNING_TEXT) for fact in facts]
    block = AnswerBlock(id=RUNNING_TEXT, kind="list" if len(facts) > 1 else "paragraph")
    draft = WrittenDraft(
        sentences=check_support(said, {fact.id: fact for fact in facts}),
        blocks=[block],
        by=judgement.by,
        trouble=judgement.failure,
    )
    now, journey = state_after(state, change), describe_journey(state)
    middle = "the middle of the places known in " if place and place.kind in ("town", "street") else ""
    told = "These are all places of that kind I know, by name."
    told = f"Distances are as the crow flies, from {middle}{place.name}." if place else told
    return record_answer(
        finish_answer(now, draft, tools.step, journey=journey).replace(certainty=told), change
    )


def _join_names(names: Sequence[str], last: str = "and") -> str:
    shown, rest = list(names[:MAX_CHOICES]), len(names) - MAX_CHOICES
    mark = "; " if any("," in name for name in shown) else ", "
    if rest > 0 or len(shown) < 2:
        return mark.join(shown) + (f" and {rest} more" if rest > 0 else "")
    return f"{mark.join(shown[:-1])} {last} {shown[-1]}"
