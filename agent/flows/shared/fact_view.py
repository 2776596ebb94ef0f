"""What a decision may be: which actions are open, when the run is stuck, and whether a proposal is followed.
Code, not hope.

Pure functions of the state; nothing here asks a model or the web."""

from __future__ import annotations

from collections.abc import Sequence

from agent.engine.run_state import RunState
from agent.errors import BudgetSpent
from agent.evidence.confidence import evidence_level
from agent.retrieval.link_scoring import MAX_OPEN_LEADS, lead_id, score_leads
from agent.text import dialogue_acts
from agent.text.excluded_sites import find_excluded_sites, is_excluded
from agent.text.urls import canonicalize, find_urls, site
from agent.types import Answer, Conflict, Fact, Lead, Outcome, PageRef, PauseRequest, Proposal, Refusal, Stall

ENGINE_BY_ACTION = {"search_duckduckgo": "duckduckgo", "search_google": "google"}
ESCALATION_ORDER = ("reframe", "narrow", "lead", "hand_over")
STALL_ACTIONS = 4
"""Tool actions in a row without a new fact that count as being stuck."""
PLATEAU_RESULTS = 6
"""Results in a row that moved what is gathered (see agent.evidence.confidence) by less than PLATEAU_MOVE in
all."""
PLATEAU_MOVE = 0.01
UNREACHABLE_CONFIDENCE = 1.01
"""A confidence that none reaches."""
ACTIONS_PER_ESCALATION = 2
"""Tool actions a rung gets before the next one is taken."""
MIN_RELEVANCE_SHARE = 0.8
"""Share of the best disputed fact's relevance below which a fact is beside the point."""
MAX_PROMPT_FACTS = 40
"""Facts a judgement looks at: the cost of a step must not grow with the run."""


def facts_after_notes(state: RunState) -> dict[str, Fact]:
    """The facts without those of sources that a person's note rules out; a fact that only such a source
    disputed is disputed no more."""
    forbidden = find_excluded_sites(note_texts(state))
    if not forbidden:
        return state.facts
    kept = {name: fact for name, fact in state.facts.items() if not is_excluded(fact.url, forbidden)}
    clashes = [
        clash
        for clash in state.conflicts.values()
        if clash.status == "open" and count_stated_sides(clash, kept) > 1
    ]
    disputed = {i for clash in clashes for value in clash.values for i in value.fact_ids}
    return {
        name: fact.model_copy(update={"disputed": fact.disputed and name in disputed})
        for name, fact in kept.items()
    }


def all_facts(state: RunState) -> list[Fact]:
    """All facts as they stand, to be shown: what only a source disputed that a note rules out is disputed no
    more."""
    return list({**state.facts, **facts_after_notes(state)}.values())


def is_from_source(url: str, source: str) -> bool:
    """Is an address this page, or on this host or site?"""
    return bool(url) and (source in (url, site(url)) or is_excluded(url, [source]))


def find_struck_source(state: RunState, url: str) -> str:
    """The source that a person struck and this address belongs to; "" for none."""
    return next((source for source in state.struck_sources if is_from_source(url, source)), "")


def apply_person_marks(state: RunState, found: Sequence[Fact]) -> list[Fact]:
    """New facts as they stand in a run: with the trust a person has in their domain; those of a source that
    they struck are struck at once."""
    return [_apply_person_mark(state, fact) for fact in found]


def _apply_person_mark(state: RunState, fact: Fact) -> Fact:
    said = state.trusts.get(site(fact.url)) if fact.url else None
    if said and said.value >= 0:
        fact = fact.model_copy(update={"trust": said.value})
    source = find_struck_source(state, fact.url) if fact.decision == "none" else ""
    return fact.model_copy(update={"decision": "struck", "struck_with": source}) if source else fact


def ignore_disputes(facts: Sequence[Fact]) -> list[Fact]:
    """The facts as if none were disputed."""
    return [fact.model_copy(update={"disputed": False}) if fact.disputed else fact for fact in facts]


def count_stated_sides(clash: Conflict, facts: dict[str, Fact]) -> int:
    """How many values of a conflict are stated by one of these facts."""
    return sum(any(i in facts for i in value.fact_ids) for value in clash.values)


def facts_for_prompt(state: RunState) -> list[Fact]:
    """The facts a judgement looks at: pinned first, then by relevance; never those that are struck, ruled out
    or not trusted at all."""
    kept = [
        fact
        for fact in facts_after_notes(state).values()
        if fact.decision == "pinned" or (fact.decision != "struck" and fact.trust > 0)
    ]
    return sorted(kept, key=lambda fact: (fact.decision != "pinned", -fact.relevance, fact.step, fact.id))[
        :MAX_PROMPT_FACTS
    ]


def facts_for_answer(state: RunState) -> list[Fact]:
    """The facts an answer may stand on: the usable ones.

    Where the point itself is disputed, what is beside it must not fill the answer in its place: then only
    those that are nearly as much to the point as the best disputed one."""
    known = [fact for fact in facts_for_prompt(state) if fact.verified or fact.decision == "pinned"]
    usable = [fact for fact in known if fact.can_support]
    best = max((fact.relevance for fact in usable), default=0.0)
    disputed = max((fact.relevance for fact in known if fact.disputed), default=0.0)
    return (
        [
            fact
            for fact in usable
            if fact.decision == "pinned" or fact.relevance >= MIN_RELEVANCE_SHARE * disputed
        ]
        if disputed > best
        else usable
    )


def note_texts(state: RunState) -> list[str]:
    """A person's words, oldest first; not those to search for, which code heeds by itself."""
    return [note.text for note in state.notes if note.kind != "look"]


def find_reached_budget(state: RunState) -> BudgetSpent | None:
    """Which cap on steps or pages is reached; None for none. Both count anew after a send-back, and in a
    fork."""
    fresh, most = state.actions_this_round, state.settings
    if len(fresh) >= most.max_steps:
        told = f"all {most.max_steps} searches and page visits of this round are used"
        return BudgetSpent(told, cap="steps", used=len(fresh), limit=most.max_steps)
    if (read := sum(1 for action in fresh if action.page_id)) >= most.max_pages:
        return BudgetSpent(
            f"all {most.max_pages} pages of this round are read", cap="pages", used=read, limit=most.max_pages
        )
    return None


def confidence_goal(state: RunState) -> float:
    """The confidence from which a covered question goes to the person; out of reach when it goes on until a
    budget is used."""
    return UNREACHABLE_CONFIDENCE if state.settings.stop_point == "budget" else state.settings.threshold


def pause_for_new_conflicts(state: RunState) -> PauseRequest | None:
    """The conflicts that came up since a person was last told of any, for a run that goes on until the next
    one."""
    if state.settings.stop_point != "conflict":
        return None
    new = [
        conflict
        for conflict in state.conflicts.values()
        if conflict.status == "open" and conflict.id not in state.met
    ]
    return (
        PauseRequest(
            kind="conflict", why=_describe_conflicts(new), conflicts=[conflict.id for conflict in new]
        )
        if new
        else None
    )


def _describe_conflicts(conflicts: list[Conflict]) -> str:
    about = [
        " · ".join(part for part in (conflict.subject, conflict.attribute) if part) or "what was read"
        for conflict in conflicts
    ]
    return (
        f"Sources disagree: {'; '.join(about[:3])}{f' and {len(about) - 3} more' if len(about) > 3 else ''}."
    )


def answer_small_talk(state: RunState, step: int) -> Answer | None:
    """The answer to a question that is nothing but thanks or a greeting; None for any other."""
    said = dialogue_acts.reply_to_small_talk(state.question)
    return (
        Answer(n=len(state.answers) + 1, verdict="no_evidence", certainty=said, by="code", step=step)
        if said
        else None
    )


def next_start_page(state: RunState) -> Proposal | None:
    """The first start address that was neither read nor skipped yet: those that a person gave are read before
    anything else."""
    skipped = {refusal.what for refusal in state.refusals if refusal.why.startswith("skipped")}
    url = next(
        (
            url
            for url in state.settings.start_urls
            if url not in skipped and canonicalize(url) not in visited_urls(state)
        ),
        None,
    )
    return (
        Proposal(
            next_action="crawl_url",
            query_or_url=url,
            reasoning="This is where to start, by your choice.",
            by="code",
        )
        if url
        else None
    )


def requested_search(state: RunState, actions: Sequence[str]) -> Proposal | None:
    """The search that a person asked for to settle a conflict and that was not made since; None when there is
    none, or no engine for it."""
    action = next((name for name in ENGINE_BY_ACTION if name in actions), None)
    skipped = {refusal.what for refusal in state.refusals if refusal.why.startswith("skipped")}
    for note in state.notes if action else ():
        made = any(done.step > note.step and done.query_or_url == note.text for done in state.actions)
        if note.kind == "look" and not made and note.text not in skipped:
            why = "A person asked for this search: it may settle what the sources disagree on."
            return Proposal(next_action=action, query_or_url=note.text, reasoning=why, by="person")  # type: ignore[arg-type]
    return None


def next_supplied_page(state: RunState) -> PageRef | None:
    """The first page that a person gave and that was not weighed yet."""
    return next((page for page in state.pages.values() if page.waiting), None)


def requested_retry(state: RunState) -> Proposal | None:
    """The first search or address a person asked to try again, and that was not tried since."""
    for wish in state.again:
        tried = any(
            action.step > wish.step
            and (action.action, action.query_or_url) == (wish.action, wish.query_or_url)
            for action in state.actions
        )
        if not tried:
            return Proposal(
                next_action=wish.action,
                query_or_url=wish.query_or_url,
                reasoning="You asked to try this again.",
                by="person",
            )
    return None


def available_actions(state: RunState, engines: dict[str, str], now: str) -> list[str]:
    """The actions that are possible now: an engine that is absent, not chosen or cooling down is left out."""
    chosen = state.settings.engines or list(engines)
    searches = [
        action
        for action, engine in ENGINE_BY_ACTION.items()
        if engine in engines and engine in chosen and state.cooling.get(engine, "") <= now
    ]
    return [*searches, "crawl_url", "send_to_hitl"]


def open_leads(state: RunState) -> list[Lead]:
    """The leads not followed yet, best first, scored by what is known now."""
    seen = visited_urls(state) | {
        refusal.what for refusal in state.refusals if refusal.why.startswith("skipped")
    }
    known = [
        lead
        for lead in state.own.leads.values()
        if lead.status == "open" and not {lead.value, canonicalize(lead.value)} & seen
    ]
    forbidden = find_excluded_sites(note_texts(state))
    known = [
        lead
        for lead in known
        if lead.kind == "query"
        or not (is_excluded(lead.value, forbidden) or find_struck_source(state, lead.value))
    ]
    best = sorted(known, key=lambda lead: (-lead.score, lead.step, lead.value))[:MAX_OPEN_LEADS]
    return score_leads(state.question, best, facts_for_prompt(state))


def visited_urls(state: RunState) -> set[str]:
    """Every address that was asked for or arrived at, in its canonical spelling."""
    return {
        canonicalize(url) for page in state.pages.values() for url in (page.url, page.final_url) if url
    } - {""}


def find_stall(state: RunState) -> Stall | None:
    """Is the run stuck, and which rung of the ladder is next? None when it moves, or when the last rung is
    still being tried."""
    since = _stall_baseline(state)
    climbed = [block for block in state.blockages if block.step > since]
    tried = sum(1 for action in state.actions if climbed and action.step > climbed[-1].step)
    if climbed and tried < ACTIONS_PER_ESCALATION:
        return None
    reason = _describe_idle_streak(state) or _describe_plateau(state)
    if not reason:
        return None
    return Stall(rung=ESCALATION_ORDER[min(len(climbed), len(ESCALATION_ORDER) - 1)], reason=reason)  # type: ignore[arg-type]


def _stall_baseline(state: RunState) -> int:
    """The step of the last answer, of a person's last note, or where it was forked: being stuck is counted
    from there on."""
    return max(
        [
            -1,
            state.forked_at,
            *(answer.step for answer in state.answers[-1:]),
            *(note.step for note in state.notes[-1:]),
        ]
    )


def _describe_idle_streak(state: RunState) -> str:
    since, idle = _stall_baseline(state), 0
    for action in reversed(state.actions):
        if action.step < since or action.new_facts or (action.action != "crawl_url" and action.hits):
            break
        idle += 1
    return f"{idle} actions in a row brought no new fact" if idle >= STALL_ACTIONS else ""


def _describe_plateau(state: RunState) -> str:
    since = _stall_baseline(state)
    curve = [point for point in state.confidence if point.step > since][-PLATEAU_RESULTS - 1 :]
    if len(curve) <= PLATEAU_RESULTS or state.current_confidence >= confidence_goal(state):
        return ""
    found = [evidence_level(point) for point in curve]
    still = max(found) - min(found) < PLATEAU_MOVE
    return (
        f"the last {PLATEAU_RESULTS} results added nothing to what is covered, nor to how many sites say it"
        if still
        else ""
    )


def is_asked_to_continue(state: RunState) -> bool:
    """Did a person skip the handing over, and was nothing done since?"""
    done = state.actions[-1].step if state.actions else -1
    return any(
        r.what == "send_to_hitl" and r.why.startswith("skipped") and r.step > done
        for r in state.refusals[-3:]
    )


def check_proposal(state: RunState, proposal: Proposal, actions: list[str]) -> Refusal | None:
    """May this be done? A refusal says why not, in words."""
    action, what = proposal.next_action, proposal.query_or_url
    if action == "send_to_hitl":
        if is_asked_to_continue(state):
            return Refusal(what=action, why="a person wants the run to go on")
        return (
            Refusal(what=action, why="the run goes on until its budget is used")
            if state.settings.stop_point == "budget"
            else None
        )
    if action not in actions:
        return Refusal(what=what, why=f"{action} is not available now")
    if not what.strip():
        return Refusal(what=action, why="the decision named nothing to search for or read")
    if any(refusal.what == what and refusal.why.startswith("skipped") for refusal in state.refusals):
        return Refusal(what=what, why="a person skipped this before")
    return _check_url(state, what) if action == "crawl_url" else _check_query(state, action, what)


def _check_query(state: RunState, action: str, query: str) -> Refusal | None:
    same = lead_id("query", query)
    for earlier in state.actions:
        if (
            earlier.action == action
            and lead_id("query", earlier.query_or_url) == same
            and earlier.outcome in (Outcome.OK, Outcome.EMPTY)
        ):
            return Refusal(what=query, why=f"the same words were searched for at step {earlier.step}")
    return None


def _check_url(state: RunState, url: str) -> Refusal | None:
    spelled = canonicalize(url)
    if not spelled:
        return Refusal(what=url, why="this is not a web address")
    if spelled in visited_urls(state):
        return Refusal(what=url, why="this address was visited before")
    if spelled not in known_urls(state):
        return Refusal(
            what=url, why="this address stands on no page or result of this run, nor in a person's words"
        )
    if not state.settings.allows(url):
        return Refusal(what=url, why="this address is outside the domains that were chosen")
    if is_excluded(url, find_excluded_sites(note_texts(state))):
        return Refusal(what=url, why="a person's note rules this address out")
    return Refusal(what=url, why="a person excluded this source") if find_struck_source(state, url) else None


def known_urls(state: RunState) -> set[str]:
    """The addresses that may be fetched: found in results or on pages, or given by a person."""
    given = [
        url for text in (state.question, *note_texts(state)) for url in find_urls(text)
    ] + state.settings.start_urls
    return {canonicalize(url) for url in given} | {
        canonicalize(lead.value) for lead in state.own.leads.values() if lead.kind == "url"
    }
