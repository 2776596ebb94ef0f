"""What the next action of a research run may be: what comes before any decision, when the run is stalled, and
whether a proposal is allowed. Pure functions of the state; nothing here asks a model or the web."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from agent.answering.engine_choice import ANSWERED
from agent.answering.fact_intake import open_conflicts
from agent.answering.fact_view import (
    excluded_sites,
    facts_after_notes,
    facts_for_prompt,
    find_struck_source,
    public_note_texts,
    show_facts,
    visited_urls,
)
from agent.answering.pages import START_PAGE_REASON
from agent.answering.plan import find_part
from agent.engine.run_state import RunState
from agent.errors import BudgetSpent
from agent.evidence.confidence import compute_part
from agent.flows.research.state import SEARCH_PREFIX, ResearchRun
from agent.retrieval.link_scoring import MAX_OPEN_LEADS, lead_id, score_leads
from agent.text.folded_search import MIN_EMBEDDED_FILE_CHARS, find_private_words
from agent.text.question_analysis import strip_question
from agent.text.urls import FILE_SCHEME, canonicalize, find_urls, is_excluded, map_spellings, site
from agent.types import (
    ENGINE_BY_ACTION,
    Conflict,
    Lead,
    PageRef,
    Proposal,
    Refusal,
    Stall,
    rank_general,
)
from agent.types.facts import number_step

ESCALATION_ORDER = ("reframe", "narrow", "lead", "hand_over")
MAX_ROUND_ACTIONS = 4
"""Actions of one round (seed 003's one action, widened: DESIGN, "The research loop"), and pages that are
fetched before they are asked for."""
ACTIONS_PER_ESCALATION = 2
"""Rounds that an escalation gets before the next one."""
STALL_ACTIONS, STALL_ROUNDS = 4, 2
"""Tool actions in a row without a new fact, in at least so many rounds, that count as a stall."""
MIN_UNREAD_CHARS = 400
"""Characters of a page that were not shown, from which its rest is offered: a paragraph."""
MAX_SETTLING_ACTIONS = 2
"""Actions for one conflict before the run may hand over with it (our own judgement: a search, and a page)."""


def find_reached_budget(state: RunState) -> BudgetSpent | None:
    """The cap on steps or pages that is reached, None for none. Both count anew after a send-back and in a
    fork."""
    done, caps = state.actions_this_round, state.settings
    read = state.own.count_pages(done)
    if len(done) >= caps.max_steps:
        why = f"all {caps.max_steps} searches and page visits of this round are used"
        return BudgetSpent(why, cap="steps", used=len(done), limit=caps.max_steps)
    if read >= caps.max_pages:
        why = f"all {caps.max_pages} pages of this round are read"
        return BudgetSpent(why, cap="pages", used=read, limit=caps.max_pages)
    return None


def cut_round(state: RunState, proposals: Sequence[Proposal]) -> list[Proposal]:
    """The first actions of a round, as many as the budgets of steps and pages leave."""
    done, caps = state.actions_this_round, state.settings
    pages = caps.max_pages - state.own.count_pages(done)
    kept: list[Proposal] = []
    for proposal in proposals[: min(MAX_ROUND_ACTIONS, caps.max_steps - len(done))]:
        pages -= proposal.next_action == "crawl_url"
        if proposal.next_action != "crawl_url" or pages >= 0:
            kept.append(proposal)
    return kept


def choose_pages_ahead(state: ResearchRun) -> Iterator[str]:
    """The addresses that the next round most likely asks for, best first: the best leads, as far as they may
    be read and the budgets reach; none where a person approves each action. Found when they are wanted."""
    if state.settings.stop_point == "step":
        return
    best = [lead.value for lead in open_leads(state)[: 2 * MAX_ROUND_ACTIONS] if lead.kind == "url"]
    wanted = [Proposal(next_action="crawl_url", query_or_url=url) for url in best]
    allowed = [proposal for proposal in wanted if not check_proposal(state, proposal, ["crawl_url"])]
    yield from (proposal.query_or_url for proposal in cut_round(state, allowed[:MAX_ROUND_ACTIONS]))


def list_asked(state: ResearchRun, actions: Sequence[str]) -> list[Proposal]:
    """What a person asked for and that was not done yet: start addresses, then searches that may settle a
    conflict."""
    visited = visited_urls(state) | state.skipped
    asked = [
        Proposal(next_action="crawl_url", query_or_url=url, reasoning=START_PAGE_REASON, by="code")
        for url in state.settings.start_urls
        if not {url, canonicalize(url)} & visited
    ]
    why = "A person asked for this search: it may settle what the sources disagree on."
    for note in state.notes:
        if note.kind == "look":
            asked += propose_search(state, actions, note.text, note.step, reasoning=why, by="person")
    return asked


def propose_search(
    state: ResearchRun, actions: Sequence[str], query: str, since: int = -1, **more: Any
) -> list[Proposal]:
    """A search with the engine that suits best; none without one, nor where it was made after the step
    `since` or skipped, or would carry private words."""
    engines = rank_general(actions, [done.action for done in state.actions])
    is_made = any(done.step > since and done.query_or_url == query for done in state.actions)
    if is_made or query in state.skipped or (engines and find_secrets(state, query)):
        return []
    return [Proposal(next_action=engine, query_or_url=query, **more) for engine in engines[:1]]


def available_actions(state: RunState, engines: dict[str, str], now: str) -> list[str]:
    """The actions that are possible now, without engines that are absent, not chosen or rate-limited."""
    chosen = state.settings.engines or list(engines)
    searches = [
        action
        for action, engine in ENGINE_BY_ACTION.items()
        if engine in engines and engine in chosen and state.cooling.get(engine, "") <= now
    ]
    more = ["more"] if any(has_unread_text(page) for page in state.pages.values()) else []
    return [*searches, "crawl_url", *more, "send_to_hitl"]


def has_unread_text(page: PageRef) -> bool:
    """Whether a page was read by a model, and a good part of its text, or all of it, was not shown to it."""
    unseen = page.length - sum(end - start for start, end in page.shown)
    return bool(page.shown) and unseen >= max(1, min(MIN_UNREAD_CHARS, page.length))


def open_leads(state: ResearchRun) -> list[Lead]:
    """The leads not followed yet, scored by what is known now, best first."""
    seen, excluded = visited_urls(state) | state.skipped, excluded_sites(state)
    leads = (
        lead
        for lead in sorted(state.own.leads.values(), key=lambda lead: (-lead.score, lead.step, lead.value))
        if lead.status == "open"
        and not {lead.value, canonicalize(lead.value)} & seen
        and (
            lead.kind == "query"
            or not (is_excluded(lead.value, excluded) or find_struck_source(state, lead.value))
        )
    )
    return score_leads(state.full_question, islice(leads, MAX_OPEN_LEADS))


def split_leads(state: ResearchRun) -> tuple[list[Lead], list[Lead]]:
    """The open leads that a decision is shown: what the analyzer named last, and the other results of
    searches."""
    report = state.own.report or {}
    names = report.get("extracted_info", {}).get("leads", [])
    urls = {canonicalize(url) for url in report.get("new_potential_urls", [])}
    named, found = list[Lead](), list[Lead]()
    for lead in open_leads(state):
        if lead.value in names or canonicalize(lead.value) in urls:
            named.append(lead)
        elif lead.kind == "url" and lead.found_on.startswith(SEARCH_PREFIX):
            found.append(lead)
    return named, found


def find_stall(state: RunState) -> Stall | None:
    """The stall with its next escalation, where actions in a row brought nothing; None while the run moves or
    the last escalation is being tried."""
    since = _find_baseline(state)
    escalated = [stall for stall in state.blockages if stall.step > since]
    tried = len({action.step for action in state.actions if escalated and action.step > escalated[-1].step})
    if escalated and tried < ACTIONS_PER_ESCALATION:
        return None
    idle = list[int]()
    for action in reversed(state.actions):
        if action.step < since or action.new_facts:
            break
        idle.append(action.step)
    if len(idle) < STALL_ACTIONS or len(set(idle)) < STALL_ROUNDS:
        return None
    rung = ESCALATION_ORDER[min(len(escalated), len(ESCALATION_ORDER) - 1)]
    return Stall(rung=rung, reason=f"{len(idle)} actions in a row brought no new fact")  # type: ignore[arg-type]


def _find_baseline(state: RunState) -> int:
    """The step from which a stall is counted: the last answer, the last note, or the fork."""
    answers, notes = (x.step for x in state.answers[-1:]), (x.step for x in state.notes[-1:])
    return max([-1, state.forked_at, *answers, *notes])


@dataclass(frozen=True)
class Coverage:
    """What is known where the analyzer calls every part answered."""

    reason: str
    """Why the run hands over, in a sentence."""
    low: list[str]
    """The ids of the parts below the threshold."""
    thin: list[str]
    """Those that earn one further round: they rest on one source, and what may add one was named."""


def assess_coverage(state: ResearchRun) -> Coverage | None:
    """The coverage of the parts; None while one is open, by what a model read since a person last said
    something, or the run is to go on."""
    since = _find_baseline(state)
    is_current = bool(state.own.report) and state.own.reported_at > since
    if state.settings.stop_point == "budget" or is_asked_to_continue(state) or not is_current:
        return None
    if len(list_answered_parts(state)) < len(state.plan):
        return None
    threshold, figures = state.settings.threshold, {part.part: part for part in state.confidence[-1].parts}
    low = [part.id for part in state.plan if compute_part(figures[part.id]) < threshold]
    single = [id for id in low if len(figures[id].sources) < 2]
    if not low:
        return Coverage(f"Every part is answered at or above {threshold:.0%}.", [], [])
    said = [said for said in state.assessments if said.step > since and said.model is not None]
    covered = [one.step for one in said if not one.unanswered]
    first = covered[0] if covered else state.own.reported_at  # a person dropped the part that was open
    later = [action for action in state.actions if action.step > first]
    had_round = len({action.step for action in later}) > 1 or any(not a.is_search for a in later)
    named, _ = split_leads(state)
    told = "a further round brought no second one" if later else "nothing further was named"
    reason = f"{_name_parts(state, single, 'rests', 'rest')} on one source; {told}." if single else ""
    if disputed := [id for id in low if figures[id].disputed]:
        reason = f"The sources disagree: {_name_parts(state, disputed, 'is', 'are').lower()} disputed."
    elif not single:
        reason = f"{_name_parts(state, low, 'stays', 'stay')} below {threshold:.0%} with two sources or more."
    is_open = not had_round and (named or later)  # what its search found is read with it
    return Coverage(reason, low, single if is_open else [])


def describe_unanswered(state: ResearchRun) -> str:
    """Why a model hands over before every part is answered, in a sentence."""
    answered = list_answered_parts(state)
    left = [part.id for part in state.plan if part.id not in answered]
    if not left:
        return "The model hands over."
    return f"{_name_parts(state, left, 'is', 'are')} not settled, and the model sees no further step."


def _name_parts(state: ResearchRun, ids: Sequence[str], one: str, several: str) -> str:
    """The start of a sentence about some parts: "Parts 1 and 2 are"."""
    if len(state.plan) == 1:
        return f"{'The answer' if one != 'is' else 'The question'} {one}"
    *first, last = ids
    return f"Parts {', '.join(first)} and {last} {several}" if first else f"Part {last} {one}"


def list_answered_parts(state: ResearchRun) -> list[str]:
    """The parts that the analyzer calls answered: not those whose facts were all struck or excluded since."""
    called = (state.own.report or {}).get("answered_parts", [])
    facts = list(facts_after_notes(state).values()) if called else []
    active = {find_part(state.plan, fact) for fact in facts if fact.is_active}
    fallen = {find_part(state.plan, fact) for fact in facts} - active if active else {*called}
    return [part.id for part in state.plan if part.id in called and part.id not in fallen]


def choose_known_facts(state: ResearchRun) -> dict[str, Any]:
    """What a round's prompts show: the facts as `show_facts` does, and the `settled` parts: answered, and no
    open one waits for them."""
    answered = list_answered_parts(state)
    waited_for = {id for part in state.plan if part.id not in answered for id in part.after}
    settled = [id for id in answered if id not in waited_for]
    return {**show_facts(facts_for_prompt(state, len(state.facts)), settled), "settled": settled}


def is_asked_to_continue(state: RunState) -> bool:
    """Whether a person skipped the hand-over and nothing was done since."""
    done = state.actions[-1].step if state.actions else -1
    return any(
        r.what == "send_to_hitl" and r.why.startswith("skipped") and r.step > done
        for r in state.refusals[-3:]
    )


def check_proposal(state: ResearchRun, proposal: Proposal, actions: list[str]) -> Refusal | None:
    """Why a proposal is refused; None when it is allowed."""
    action, what, reasons = proposal.next_action, proposal.query_or_url, list[tuple[object, str]]()
    if action == "send_to_hitl":
        is_open = state.settings.stop_point == "budget"
        reasons = [
            (is_asked_to_continue(state), "a person wants the run to go on"),
            (is_open, "the run continues until its budget is used"),
        ]
    elif action not in actions or what in state.skipped or not what.strip():
        reasons = [
            (not what.strip(), "the decision named nothing to search for or read"),
            (action not in actions, f"{action} is not available now"),
            (what in state.skipped, "a person skipped this before"),
        ]
    elif action == "more":
        page = state.pages.get(what)
        reasons = [
            (not (page and page.page_id), "only a page that was read has more to show"),
            (not (page and has_unread_text(page)), "all of this page was shown before"),
        ]
    elif action == "ask":
        asked = [done.query_or_url for done in state.actions if done.action == action]
        reasons = [(what in asked, "this was asked before")]
    elif action == "crawl_url":
        url, places = canonicalize(what), "on any page or result of this run, nor in a person's words"
        reasons = [
            (not url, "this is not a web address"),
            (url in visited_urls(state), "this address was visited before"),
            (not find_known_url(state, what), f"this address does not occur {places}"),
            (not state.settings.allows(what), "this address is outside the domains that were chosen"),
            (is_excluded(what, excluded_sites(state)), "a person's note rules this address out"),
            (find_struck_source(state, what), "a person excluded this source"),
        ]
    else:
        secrets, words = find_secrets(state, what), lead_id("query", what)
        made = [done for done in state.actions if done.action == action and done.outcome in ANSWERED]
        same = [done.step for done in made if lead_id("query", done.query_or_url) == words]
        first = number_step(state.actions, same[0]) if same else 0
        told = "it would carry words of a private note or an added file to a search engine"
        reasons = [
            (secrets, f"{told}: {', '.join(secrets)[:80]}"),
            (same, f"the same words were searched for at step {first}"),
        ]
    why = next((words for holds, words in reasons if holds), "")
    return (
        Refusal(what=what if what.strip() and action != "send_to_hitl" else action, why=why) if why else None
    )


def find_secrets(state: ResearchRun, query: str) -> list[str]:
    """The words of a query that are from a private note or an added file, of an earlier turn too: neither the
    person's other words, nor a page or result hold them."""
    notes = (note.text for note in state.notes if note.private)
    private = [*state.earlier_private_notes, *notes]
    if not (private or state.file_words):
        return []
    found = (fact for fact in state.facts.values() if fact.verified and fact.by != "person")
    quotes = (fact.quote for fact in found if not fact.url.startswith(FILE_SCHEME))
    urls = (lead for lead in state.own.leads.values() if lead.kind == "url")
    leads = (f"{lead.value} {lead.text}" for lead in urls if not lead.found_on.startswith(FILE_SCHEME))
    titles = (page.title for page in state.pages.values() if page.origin == "fetched")
    parts = (part.question for part in state.plan if part.by == "person")
    known = [state.full_question, *public_note_texts(state), *parts, *quotes, *leads, *titles]
    in_files = find_private_words(query, state.file_words, known, least=MIN_EMBEDDED_FILE_CHARS)
    return list(dict.fromkeys([*find_private_words(query, private, known), *in_files]))


def find_known_url(state: ResearchRun, url: str) -> str:
    """An address as it was found in results or on pages or given by a person; "" for one that was not.
    Whatever a model writes is only looked up here: its own spelling could carry a message."""
    if not (spelled := canonicalize(url)):
        return ""
    texts = (state.full_question, *public_note_texts(state))
    given = [found for text in texts for found in find_urls(text)] + state.settings.start_urls
    lead = state.own.leads.get(lead_id("url", url))
    return map_spellings(given).get(spelled) or (lead.value if lead else "")


def conflict_to_settle(state: RunState) -> Conflict | None:
    """The first open conflict on what was asked for which fewer actions were taken. What could settle one
    that the analyzer reported is among its leads."""
    tried = [action.about for action in state.actions_this_round]
    unnamed = (c for c in open_conflicts(state) if c.asks and c.found_by != "model")
    return next((c for c in unnamed if tried.count(c.id) < MAX_SETTLING_ACTIONS), None)


def describe_conflict(state: RunState, conflict: Conflict) -> str:
    """The conflict for the decision: its values with the sites that give them."""
    facts = facts_after_notes(state)
    sides = [
        f"{value.text} ({', '.join(dict.fromkeys(site(facts[i].url) for i in value.fact_ids if i in facts))})"
        for value in conflict.values
    ]
    return f"{conflict.topic}: {' or '.join(sides)}"


def propose_settling(state: ResearchRun, conflict: Conflict, actions: list[str]) -> list[Proposal]:
    """A search for the conflict's topic and values, then what it found at further sites, best first: what of
    these is allowed."""
    why = f"The sources disagree on {describe_conflict(state, conflict)}; this may settle it."
    more: Any = {"reasoning": why, "by": "code", "about": conflict.id}
    facts, query = facts_after_notes(state), settling_query(state, conflict)
    involved = {site(facts[i].url) for value in conflict.values for i in value.fact_ids if i in facts}
    proposals = propose_search(state, actions, query, **more)
    proposals += [
        Proposal(next_action="crawl_url", query_or_url=lead.value, **more)
        for lead in open_leads(state)
        if lead.found_on == f"{SEARCH_PREFIX}{query}" and site(lead.value) not in involved
    ]
    return [proposal for proposal in proposals if check_proposal(state, proposal, actions) is None]


def settling_query(state: RunState, conflict: Conflict) -> str:
    """A query that may find what settles a conflict: the question or the conflict's topic, and its values."""
    topic = conflict.topic.replace("(", "").replace(")", "")
    values = " ".join(value.text for value in conflict.values[:3]) if conflict.kind != "polarity" else ""
    subject = strip_question(state.question).rstrip("?! ") if conflict.asks else topic
    return " ".join(f"{subject} {values}".split())[:200]
