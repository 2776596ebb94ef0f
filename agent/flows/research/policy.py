"""What the next action of a research run may be: what comes before any decision, when the run is stalled, and
whether a proposal is allowed. Pure functions of the state; nothing here asks a model or the web."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from agent.answering.fact_view import (
    excluded_sites,
    facts_after_notes,
    facts_for_prompt,
    find_part,
    find_struck_source,
    note_texts,
    show_facts,
    visited_urls,
)
from agent.answering.pages import ANSWERED, START_PAGE_REASON
from agent.engine.run_state import RunState
from agent.errors import BudgetSpent
from agent.evidence.confidence import compute_part, quote_parts
from agent.flows.research.state import SEARCH_PREFIX, ResearchRun
from agent.retrieval.link_scoring import MAX_OPEN_LEADS, lead_id, score_leads
from agent.text.folded_search import MIN_EMBEDDED_FILE_CHARS, find_private_words
from agent.text.plurals import clip, format_count
from agent.text.question_analysis import strip_question
from agent.text.urls import FILE_SCHEME, canonicalize, find_urls, is_excluded, map_spellings, site
from agent.types import (
    ENGINE_BY_ACTION,
    ENGINE_NAMES,
    Action,
    Conflict,
    Lead,
    PageRef,
    Proposal,
    Refusal,
    Stall,
    rank_general,
    rank_substitutes,
)
from agent.types.facts import number_step

CHECK_PLAN = "check_plan"
"""Where a run that goes step by step waits for a person to approve the plan."""
PLAN_EDIT = "changed the plan"
"""How a person's edit of the plan begins in the list of edits."""
ESCALATION_ORDER = ("reframe", "narrow", "lead", "hand_over")
MAX_ROUND_ACTIONS = 4
"""Actions of one round (seed 003's one action, widened: DESIGN, "The research loop"), and pages that are
fetched before they are asked for."""
STALL_ACTIONS, STALL_ROUNDS = 4, 2
"""Tool actions in a row without a new fact, in at least so many rounds, that count as a stall; as many rounds
has an escalation before the next one."""
MIN_UNREAD_CHARS = 400
"""Characters of a page that were not shown, from which its rest is offered: a paragraph."""
MAX_SETTLING_ACTIONS = 2
"""Actions for one conflict before the run may hand over with it (our own judgement: a search, and a page)."""


def find_reached_budget(state: RunState) -> BudgetSpent | None:
    """The cap on steps or pages that is reached since the last send-back or fork; None for none."""
    done, caps = state.actions_this_round, state.settings
    if len(done) >= caps.max_steps:
        why = f"the limit of {format_count(caps.max_steps, 'step')} is reached"
        return BudgetSpent(why, cap="steps", used=len(done), limit=caps.max_steps)
    if (read := state.own.count_pages(done)) >= caps.max_pages:
        why = f"the limit of {format_count(caps.max_pages, 'page')} is reached"
        return BudgetSpent(why, cap="pages", used=read, limit=caps.max_pages)
    return None


def cut_round(state: RunState, proposals: Sequence[Proposal]) -> list[Proposal]:
    """The first actions of a round, as many as the budgets of steps and pages leave."""
    done, caps, kept = state.actions_this_round, state.settings, list[Proposal]()
    pages = caps.max_pages - state.own.count_pages(done)
    for proposal in proposals[: min(MAX_ROUND_ACTIONS, caps.max_steps - len(done))]:
        pages -= proposal.next_action == "crawl_url"
        if proposal.next_action != "crawl_url" or pages >= 0:
            kept.append(proposal)
    return kept


def choose_pages_ahead(state: ResearchRun) -> Iterator[str]:
    """The addresses that the next round most likely asks for, best first: the best leads, as far as they may
    be read and the budgets reach; none where a person approves each action. Found when they are wanted."""
    allowed = list[Proposal]()
    if state.settings.stop_point != "step":
        for lead in open_leads(state)[: 2 * MAX_ROUND_ACTIONS]:
            wanted = Proposal(next_action="crawl_url", query_or_url=lead.value)
            if lead.kind == "url" and not check_proposal(state, wanted, ["crawl_url"]):
                allowed.append(wanted)
    for proposal in cut_round(state, allowed):
        yield proposal.query_or_url


def list_asked(state: ResearchRun, actions: Sequence[str]) -> list[Proposal]:
    """What comes before any decision: the first start address or search that a person asked for and that was
    not done yet; else the searches that their engines did not answer."""
    visited = visited_urls(state) | state.skipped
    for url in state.settings.start_urls:
        if visited.isdisjoint({url, canonicalize(url)}):
            return [
                Proposal(next_action="crawl_url", query_or_url=url, reasoning=START_PAGE_REASON, by="code")
            ]
    why = "A person asked for this search: it may settle what the sources disagree on."
    for note in state.notes:
        if note.kind == "look" and (
            asked := propose_search(state, actions, note.text, note.step, reasoning=why, by="person")
        ):
            return asked
    return take_over_searches(state.actions_this_round, actions, state.skipped)


def take_over_searches(
    actions: Sequence[Action], available: Iterable[str], skipped: Collection[str] = ()
) -> list[Proposal]:
    """For each search of the latest step that its engine failed to answer and nobody `skipped`, the same
    search with the next engine that suits and was not asked yet. `available` are the possible actions."""
    tried, latest = dict[str, list[Action]](), list[Action]()
    for done in actions:
        if done.action in ENGINE_BY_ACTION:
            tried.setdefault(lead_id("query", done.query_or_url), []).append(done)
            latest += [done] if done.step == actions[-1].step else []
    found, engines = dict[str, Proposal](), [ENGINE_BY_ACTION.get(action, "") for action in available]
    for failed in latest:
        words, name = lead_id("query", failed.query_or_url), ENGINE_BY_ACTION[failed.action]
        asked = {done.action: done.outcome in ANSWERED for done in tried[words]}
        if failed.query_or_url in skipped or True in asked.values():
            continue
        for other in rank_substitutes(name, engines):
            if f"search_{other}" not in asked:
                found[words] = Proposal(
                    next_action=f"search_{other}",
                    query_or_url=failed.query_or_url,
                    part=failed.part,
                    about=failed.about,
                    reasoning=f"{ENGINE_NAMES[name]} did not answer this; {ENGINE_NAMES[other]} takes over.",
                    by="code",
                )
                break
    return list(found.values())


def propose_search(
    state: ResearchRun, actions: Sequence[str], query: str, since: int = -1, **more: Any
) -> list[Proposal]:
    """A search with the best engine; none where it was made since `since`, skipped, or has private words."""
    done, is_made = list[str](), query in state.skipped
    for action in state.actions:
        done.append(action.action)
        is_made = is_made or (action.step > since and action.query_or_url == query)
    engines = rank_general(actions, done)
    if is_made or not engines or find_secrets(state, query):
        return []
    return [Proposal(next_action=engines[0], query_or_url=query, **more)]


def available_actions(state: RunState, engines: dict[str, str], now: str) -> list[str]:
    """The actions that are possible now, without engines that are absent, not chosen or rate-limited."""
    found, chosen = list[str](), state.settings.engines or engines
    for action, engine in ENGINE_BY_ACTION.items():
        if engine in engines and engine in chosen and state.cooling.get(engine, "") <= now:
            found.append(action)
    more = ["more"] if any(map(has_unread_text, state.pages.values())) else []
    return [*found, "crawl_url", *more, "send_to_hitl"]


def has_unread_text(page: PageRef) -> bool:
    """Whether a page was read by a model, and a good part of its text, or all of it, was not shown to it."""
    unseen = page.length
    for start, end in page.shown:
        unseen -= end - start
    return bool(page.shown) and unseen >= max(1, min(MIN_UNREAD_CHARS, page.length))


def open_leads(state: ResearchRun) -> list[Lead]:
    """The leads not followed yet, scored by what is known now, best first."""
    seen, excluded, leads = visited_urls(state) | state.skipped, excluded_sites(state), list[Lead]()
    for lead in state.own.leads.values():
        if lead.status == "open" and seen.isdisjoint({lead.value, canonicalize(lead.value)}):
            is_out = is_excluded(lead.value, excluded) or find_struck_source(state, lead.value)
            leads += [] if lead.kind != "query" and is_out else [lead]
    leads.sort(key=lambda lead: (-lead.score, lead.step, lead.value))
    return score_leads(state.full_question, islice(leads, MAX_OPEN_LEADS))


def split_leads(state: ResearchRun) -> tuple[list[Lead], list[Lead]]:
    """The open leads that a decision is shown: what the analyzer named last, and results of searches."""
    report = state.own.report or {}
    names = report.get("extracted_info", {}).get("leads", [])
    urls = {*map(canonicalize, report.get("new_potential_urls", []))}
    named, found = list[Lead](), list[Lead]()
    for lead in open_leads(state):
        if lead.value in names or canonicalize(lead.value) in urls:
            named.append(lead)
        elif lead.kind == "url" and lead.found_on.startswith(SEARCH_PREFIX):
            found.append(lead)
    return named, found


def find_stall(state: RunState) -> Stall | None:
    """The stall, after idle actions, with its next escalation; None while the last one is being tried."""
    since, idle, tried = find_fresh_start(state), list[int](), set[int]()
    escalated = [stall.step for stall in state.blockages if stall.step > since]
    for action in state.actions:
        if action.step >= since:
            idle = [] if action.new_facts else [*idle, action.step]
        if escalated and action.step > escalated[-1]:
            tried.add(action.step)
    if escalated and len(tried) < STALL_ROUNDS:
        return None
    if len(idle) < STALL_ACTIONS or len(set(idle)) < STALL_ROUNDS:
        return None
    rung = ESCALATION_ORDER[min(len(escalated), len(ESCALATION_ORDER) - 1)]
    return Stall(rung=rung, reason=f"{len(idle)} actions in a row brought no new fact")  # type: ignore[arg-type]


def find_fresh_start(state: RunState) -> int:
    """The step from which a stall is counted: the last answer, the last note, or the fork; -1 for none."""
    answered, noted = (said[-1].step if said else -1 for said in (state.answers, state.notes))
    return max(state.forked_at, answered, noted)


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
    since = find_fresh_start(state)
    is_current = bool(state.own.report) and state.own.reported_at > since
    if state.settings.stop_point == "budget" or is_asked_to_continue(state) or not is_current:
        return None
    if len(list_answered_parts(state)) < len(state.plan):
        return None
    threshold, low, single, disputed = state.settings.threshold, list[str](), list[str](), list[str]()
    for figure in state.confidence[-1].parts:
        if compute_part(figure) < threshold:
            low.append(figure.part)
            single += [figure.part] if len(figure.sources) < 2 else []
            disputed += [figure.part] if figure.disputed else []
    if not low:
        return Coverage(f"Every part is answered at or above {threshold:.0%}.", [], [])
    first = state.own.reported_at  # where a person dropped the part that was open
    for said in reversed(state.assessments):
        first = said.step if said.step > since and said.model is not None and not said.unanswered else first
    later, is_read = set[int](), False
    for action in state.actions:
        if action.step > first:
            later.add(action.step)
            is_read = is_read or not action.is_search
    if disputed:
        reason = f"{name_parts(state, disputed, 'is', 'are')} disputed between sources."
    elif single:
        told = "a further round brought no second one" if later else "nothing further was named"
        reason = f"{name_parts(state, single, 'rests', 'rest')} on one source; {told}."
    else:
        reason = f"{name_parts(state, low, 'stays', 'stay')} below {threshold:.0%} with two sources or more."
    # one further round: a search, and what it found
    is_open = not is_read and len(later) < 2 and bool(later or split_leads(state)[0])
    return Coverage(reason, low, single if is_open else [])


def name_parts(state: ResearchRun, ids: Sequence[str], one: str, several: str) -> str:
    """The start of a sentence about some parts, by their words: "“Who?” and “When?” are"."""
    if len(state.plan) == 1:
        return f"{'The answer' if one != 'is' else 'The question'} {one}"
    names = quote_parts(state.plan)
    *first, last = [names.get(part, "A part") for part in ids]
    if len(first) > 2:
        first, last = first[:2], f"{len(first) - 1} more"
    return f"{', '.join(first)} and {last} {several}" if first else f"{last} {one}"


def is_plan_edited(state: ResearchRun) -> bool:
    """Whether a person changed the plan: its parts, not the question, are what is asked since."""
    return any(edit.text.startswith(PLAN_EDIT) for edit in state.edits)


def describe_reading(state: ResearchRun) -> str:
    """How an ambiguous question was read last where no person could be asked; "" where none was."""
    asked = [action.detail for action in state.actions if action.action == "ask" and action.detail]
    if asked or state.settings.stop_point == "step" or not state.own.meanings:
        return asked[-1] if asked else ""
    first, *others = state.own.meanings
    also = "” or “".join(others)
    return f"The question was read as “{first}”; it can also mean “{also}”."


def list_answered_parts(state: ResearchRun) -> list[str]:
    """The parts that the analyzer calls answered: not those whose facts were all struck or excluded since."""
    called, active, had = (state.own.report or {}).get("answered_parts", []), set[str](), set[str]()
    for fact in facts_after_notes(state).values() if called else ():
        had.add(part := find_part(state.plan, fact))
        active |= {part} if fact.is_active else set()
    fallen = had - active if active else called
    return [part.id for part in state.plan if part.id in called and part.id not in fallen]


def choose_known_facts(state: ResearchRun) -> dict[str, Any]:
    """What a round's prompts show: the facts as `show_facts` does, and the `settled` parts: answered, and no
    open one waits for them."""
    answered = list_answered_parts(state)
    settled = answered
    for part in state.plan:
        if part.id not in answered:
            settled = [id for id in settled if id not in part.after]
    return {**show_facts(facts_for_prompt(state, len(state.facts)), settled), "settled": settled}


def is_asked_to_continue(state: RunState) -> bool:
    """Whether a person skipped the hand-over and nothing was done since."""
    done = state.actions[-1].step if state.actions else -1
    for refusal in state.refusals:
        if refusal.what == "send_to_hitl" and refusal.why.startswith("skipped") and refusal.step > done:
            return True
    return False


def check_proposal(state: ResearchRun, proposal: Proposal, actions: Collection[str]) -> Refusal | None:
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
        told = "it would carry words of a private note or an added file to a search engine"
        reasons = [(secrets, f"{told}: {clip(', '.join(secrets))}")]
        for done in state.actions:
            if (
                done.action == action
                and done.outcome in ANSWERED
                and lead_id("query", done.query_or_url) == words
            ):
                first = number_step(state.actions, done.step)
                reasons.append((True, f"the same words were searched for at step {first}"))
    for holds, why in reasons:
        if holds:
            is_named = what.strip() and action != "send_to_hitl"
            return Refusal(what=what if is_named else action, why=why)
    return None


def find_secrets(state: ResearchRun, query: str) -> list[str]:
    """The words of a query that are from a private note or an added file, of an earlier turn too: neither the
    person's other words, nor a page or result hold them."""
    private = [*state.earlier_private_notes, *(note.text for note in state.notes if note.private)]
    if not (private or state.file_words):
        return []
    known = [state.full_question, *note_texts(state, public=True)]
    known += [part.question for part in state.plan if part.by == "person"]
    known += [page.title for page in state.pages.values() if page.origin == "fetched"]
    for fact in state.facts.values():
        if fact.verified and fact.by != "person" and not fact.url.startswith(FILE_SCHEME):
            known.append(fact.quote)
    for lead in state.own.leads.values():
        if lead.kind == "url" and not lead.found_on.startswith(FILE_SCHEME):
            known.append(f"{lead.value} {lead.text}")
    in_files = find_private_words(query, state.file_words, known, least=MIN_EMBEDDED_FILE_CHARS)
    return list(dict.fromkeys([*find_private_words(query, private, known), *in_files]))


def find_known_url(state: ResearchRun, url: str) -> str:
    """An address as it was found in results or on pages or given by a person; "" for one that was not.
    Whatever a model writes is only looked up here: its own spelling could carry a message."""
    if not (spelled := canonicalize(url)):
        return ""
    given = find_urls(" ".join([state.full_question, *note_texts(state, public=True)]))
    given += state.settings.start_urls
    lead = state.own.leads.get(lead_id("url", url))
    return map_spellings(given).get(spelled) or (lead.value if lead else "")


def describe_conflict(state: RunState, conflict: Conflict) -> tuple[str, set[str]]:
    """The conflict for the decision, with the sites that give each value; and all these sites."""
    facts, sides, involved = facts_after_notes(state), list[str](), set[str]()
    for value in conflict.values:
        sites = dict.fromkeys(site(facts[i].url) for i in value.fact_ids if i in facts)
        sides.append(f"{value.text} ({', '.join(sites)})")
        involved |= sites.keys()
    return f"{conflict.topic}: {' or '.join(sides)}", involved


def propose_settling(state: ResearchRun, conflict: Conflict, actions: list[str]) -> list[Proposal]:
    """A search for the conflict's topic and values, then what it found at further sites: what is allowed."""
    told, involved = describe_conflict(state, conflict)
    why, query = f"The sources disagree on {told}; this may settle it.", settling_query(state, conflict)
    more: Any = {"reasoning": why, "by": "code", "about": conflict.id}
    proposals = propose_search(state, actions, query, **more)
    for lead in open_leads(state):
        if lead.found_on == f"{SEARCH_PREFIX}{query}" and site(lead.value) not in involved:
            proposals.append(Proposal(next_action="crawl_url", query_or_url=lead.value, **more))
    return [proposal for proposal in proposals if check_proposal(state, proposal, actions) is None]


def settling_query(state: RunState, conflict: Conflict) -> str:
    """A query that may find what settles a conflict: the question or the conflict's topic, and its values."""
    topic = conflict.topic.replace("(", "").replace(")", "")
    values = " ".join(value.text for value in conflict.values[:3]) if conflict.kind != "polarity" else ""
    subject = strip_question(state.question).rstrip("?! ") if conflict.asks else topic
    return " ".join(f"{subject} {values}".split())[:200]
