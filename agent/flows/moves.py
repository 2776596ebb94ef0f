"""What a decision may be: which actions are open, when the run is stuck, and whether a proposal is followed. Code, not hope.

Pure functions of the state; nothing here asks a model or the web.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.errors import BudgetSpent
from agent.evidence import slots
from agent.evidence.confidence import gathered
from agent.evidence.slots import Asked
from agent.flows.state import Research
from agent.text import manners
from agent.text.exclusions import excluded, is_excluded
from agent.text.leads import KEPT, lead_id, score_leads
from agent.text.question import read
from agent.types import Answer, Blockage, Conflict, Fact, Halt, Lead, Outcome, PageRef, Proposal, Refusal
from agent.urls import canonical, found_in, site

ENGINES = {"search_duckduckgo": "duckduckgo", "search_google": "google"}
LADDER = ("reframe", "narrow", "lead", "hand_over")
STALE = 4
"""Tool actions in a row without a new fact that count as being stuck."""
PLATEAU = 6
"""Results in a row that moved what is gathered (see agent.evidence.confidence) by less than PLATEAU_MOVE in all."""
PLATEAU_MOVE = 0.01
BEYOND = 1.01
"""A confidence that none reaches."""
BETWEEN = 2
"""Tool actions a rung gets before the next one is taken."""
BESIDE = 0.8
"""Share of the best disputed fact's relevance below which a fact is beside the point."""
REMEMBERED = 40
"""Facts a judgement looks at: the cost of a step must not grow with the run."""


def standing(state: Research) -> dict[str, Fact]:
    """The facts without those of sources that a person's note rules out; a fact that only such a source disputed is disputed no more."""
    forbidden = excluded(notes(state))
    if not forbidden:
        return state.facts
    kept = {name: fact for name, fact in state.facts.items() if not is_excluded(fact.url, forbidden)}
    clashes = [clash for clash in state.conflicts.values() if clash.status == "open" and sides(clash, kept) > 1]
    disputed = {i for clash in clashes for value in clash.values for i in value.fact_ids}
    return {name: fact.model_copy(update={"disputed": fact.disputed and name in disputed}) for name, fact in kept.items()}


def listed(state: Research) -> list[Fact]:
    """All facts as they stand, to be shown: what only a source disputed that a note rules out is disputed no more."""
    return list({**state.facts, **standing(state)}.values())


def of_source(url: str, source: str) -> bool:
    """Is an address this page, or on this host or site?"""
    return bool(url) and (source in (url, site(url)) or is_excluded(url, [source]))


def struck(state: Research, url: str) -> str:
    """The source that a person struck and this address belongs to; "" for none."""
    return next((source for source in state.struck_sources if of_source(url, source)), "")


def heeding(state: Research, found: Sequence[Fact]) -> list[Fact]:
    """New facts as they stand in a run: with the trust a person has in their domain; those of a source that they struck are struck at once."""
    return [_heeded(state, fact) for fact in found]


def _heeded(state: Research, fact: Fact) -> Fact:
    said = state.trusts.get(site(fact.url)) if fact.url else None
    if said and said.value >= 0:
        fact = fact.model_copy(update={"trust": said.value})
    source = struck(state, fact.url) if fact.decision == "none" else ""
    return fact.model_copy(update={"decision": "struck", "struck_with": source}) if source else fact


def at_issue(state: Research) -> Asked | None:
    """The question as the facts' answers to it are compared; None where many small matters are gathered, or one site is asked."""
    asked = read(state.question)
    return slots.asked(state.question, asked.kind, asked.hops) if state.settings.flow == "research" else None


def sides(clash: Conflict, facts: dict[str, Fact]) -> int:
    """How many values of a conflict are stated by one of these facts."""
    return sum(any(i in facts for i in value.fact_ids) for value in clash.values)


def memory(state: Research) -> list[Fact]:
    """The facts a judgement looks at: pinned first, then by relevance; never those that are struck, ruled out or not trusted at all."""
    kept = [fact for fact in standing(state).values() if fact.decision == "pinned" or (fact.decision != "struck" and fact.trust > 0)]
    return sorted(kept, key=lambda fact: (fact.decision != "pinned", -fact.relevance, fact.step, fact.id))[:REMEMBERED]


def answering(state: Research) -> list[Fact]:
    """The facts an answer may stand on: the usable ones.

    Where the point itself is disputed, what is beside it must not fill the answer in its place: then only those that are nearly as
    much to the point as the best disputed one.
    """
    known = [fact for fact in memory(state) if fact.verified or fact.decision == "pinned"]
    usable = [fact for fact in known if fact.usable]
    best = max((fact.relevance for fact in usable), default=0.0)
    disputed = max((fact.relevance for fact in known if fact.disputed), default=0.0)
    return [fact for fact in usable if fact.decision == "pinned" or fact.relevance >= BESIDE * disputed] if disputed > best else usable


def notes(state: Research) -> list[str]:
    """A person's words, oldest first; not those to search for, which code heeds by itself."""
    return [note.text for note in state.notes if note.kind != "look"]


def cap(state: Research) -> BudgetSpent | None:
    """Which cap on steps or pages is reached; None for none. Both count anew after a send-back, and in a fork."""
    fresh, most = state.fresh_actions, state.settings
    if len(fresh) >= most.max_steps:
        told = f"all {most.max_steps} searches and page visits of this round are used"
        return BudgetSpent(told, cap="steps", used=len(fresh), limit=most.max_steps)
    if (read := sum(1 for action in fresh if action.page_id)) >= most.max_pages:
        return BudgetSpent(f"all {most.max_pages} pages of this round are read", cap="pages", used=read, limit=most.max_pages)
    return None


def goal(state: Research) -> float:
    """The confidence from which a covered question goes to the person; out of reach when it goes on until a budget is used."""
    return BEYOND if state.settings.stops_at == "budget" else state.settings.threshold


def clash(state: Research) -> Halt | None:
    """The conflicts that came up since a person was last told of any, for a run that goes on until the next one."""
    if state.settings.stops_at != "conflict":
        return None
    new = [conflict for conflict in state.conflicts.values() if conflict.status == "open" and conflict.id not in state.met]
    return Halt(kind="conflict", why=_differ(new), conflicts=[conflict.id for conflict in new]) if new else None


def _differ(conflicts: list[Conflict]) -> str:
    about = [" · ".join(part for part in (conflict.subject, conflict.attribute) if part) or "what was read" for conflict in conflicts]
    return f"Sources disagree: {'; '.join(about[:3])}{f' and {len(about) - 3} more' if len(about) > 3 else ''}."


def in_kind(state: Research, step: int) -> Answer | None:
    """The answer to a question that is nothing but thanks or a greeting; None for any other."""
    said = manners.in_kind(state.question)
    return Answer(n=len(state.answers) + 1, verdict="no_evidence", certainty=said, by="code", step=step) if said else None


def start(state: Research) -> Proposal | None:
    """The first start address that was neither read nor skipped yet: those that a person gave are read before anything else."""
    skipped = {refusal.what for refusal in state.refusals if refusal.why.startswith("skipped")}
    url = next((url for url in state.settings.start_urls if url not in skipped and canonical(url) not in visited(state)), None)
    return Proposal(next_action="crawl_url", query_or_url=url, reasoning="This is where to start, by your choice.", by="code") if url else None


def wish(state: Research, actions: Sequence[str]) -> Proposal | None:
    """The search that a person asked for to settle a conflict and that was not made since; None when there is none, or no engine for it."""
    action = next((name for name in ENGINES if name in actions), None)
    skipped = {refusal.what for refusal in state.refusals if refusal.why.startswith("skipped")}
    for note in state.notes if action else ():
        made = any(done.step > note.step and done.query_or_url == note.text for done in state.actions)
        if note.kind == "look" and not made and note.text not in skipped:
            why = "A person asked for this search: it may settle what the sources disagree on."
            return Proposal(next_action=action, query_or_url=note.text, reasoning=why, by="person")  # type: ignore[arg-type]
    return None


def waiting(state: Research) -> PageRef | None:
    """The first page that a person gave and that was not weighed yet."""
    return next((page for page in state.pages.values() if page.waiting), None)


def again(state: Research) -> Proposal | None:
    """The first search or address a person asked to try again, and that was not tried since."""
    for wish in state.again:
        tried = any(action.step > wish.step and (action.action, action.query_or_url) == (wish.action, wish.query_or_url) for action in state.actions)
        if not tried:
            return Proposal(next_action=wish.action, query_or_url=wish.query_or_url, reasoning="You asked to try this again.", by="person")
    return None


def available(state: Research, engines: dict[str, str], now: str) -> list[str]:
    """The actions that are possible now: an engine that is absent, not chosen or cooling down is left out."""
    chosen = state.settings.engines or list(engines)
    searches = [action for action, engine in ENGINES.items() if engine in engines and engine in chosen and state.cooling.get(engine, "") <= now]
    return [*searches, "crawl_url", "send_to_hitl"]


def open_leads(state: Research) -> list[Lead]:
    """The leads not followed yet, best first, scored by what is known now."""
    seen = visited(state) | {refusal.what for refusal in state.refusals if refusal.why.startswith("skipped")}
    known = [lead for lead in state.leads.values() if lead.status == "open" and not {lead.value, canonical(lead.value)} & seen]
    forbidden = excluded(notes(state))
    known = [lead for lead in known if lead.kind == "query" or not (is_excluded(lead.value, forbidden) or struck(state, lead.value))]
    best = sorted(known, key=lambda lead: (-lead.score, lead.step, lead.value))[:KEPT]
    return score_leads(state.question, best, memory(state))


def visited(state: Research) -> set[str]:
    """Every address that was asked for or arrived at, in its canonical spelling."""
    return {canonical(url) for page in state.pages.values() for url in (page.url, page.final_url) if url} - {""}


def blockage(state: Research) -> Blockage | None:
    """Is the run stuck, and which rung of the ladder is next? None when it moves, or when the last rung is still being tried."""
    since = _turn(state)
    climbed = [block for block in state.blockages if block.step > since]
    tried = sum(1 for action in state.actions if climbed and action.step > climbed[-1].step)
    if climbed and tried < BETWEEN:
        return None
    reason = _stale(state) or _plateau(state)
    if not reason:
        return None
    return Blockage(rung=LADDER[min(len(climbed), len(LADDER) - 1)], reason=reason)  # type: ignore[arg-type]


def _turn(state: Research) -> int:
    """The step of the last answer, of a person's last note, or where it was forked: being stuck is counted from there on."""
    return max([-1, state.forked_at, *(answer.step for answer in state.answers[-1:]), *(note.step for note in state.notes[-1:])])


def _stale(state: Research) -> str:
    since, idle = _turn(state), 0
    for action in reversed(state.actions):
        if action.step < since or action.new_facts or (action.action != "crawl_url" and action.hits):
            break
        idle += 1
    return f"{idle} actions in a row brought no new fact" if idle >= STALE else ""


def _plateau(state: Research) -> str:
    since = _turn(state)
    curve = [point for point in state.confidence if point.step > since][-PLATEAU - 1 :]
    if len(curve) <= PLATEAU or state.level >= goal(state):
        return ""
    found = [gathered(point) for point in curve]
    still = max(found) - min(found) < PLATEAU_MOVE
    return f"the last {PLATEAU} results added nothing to what is covered, nor to how many sites say it" if still else ""


def told_to_go_on(state: Research) -> bool:
    """Did a person skip the handing over, and was nothing done since?"""
    done = state.actions[-1].step if state.actions else -1
    return any(r.what == "send_to_hitl" and r.why.startswith("skipped") and r.step > done for r in state.refusals[-3:])


def check(state: Research, proposal: Proposal, actions: list[str]) -> Refusal | None:
    """May this be done? A refusal says why not, in words."""
    action, what = proposal.next_action, proposal.query_or_url
    if action == "send_to_hitl":
        if told_to_go_on(state):
            return Refusal(what=action, why="a person wants the run to go on")
        return Refusal(what=action, why="the run goes on until its budget is used") if state.settings.stops_at == "budget" else None
    if action not in actions:
        return Refusal(what=what, why=f"{action} is not available now")
    if not what.strip():
        return Refusal(what=action, why="the decision named nothing to search for or read")
    if any(refusal.what == what and refusal.why.startswith("skipped") for refusal in state.refusals):
        return Refusal(what=what, why="a person skipped this before")
    return _check_url(state, what) if action == "crawl_url" else _check_query(state, action, what)


def _check_query(state: Research, action: str, query: str) -> Refusal | None:
    same = lead_id("query", query)
    for earlier in state.actions:
        if earlier.action == action and lead_id("query", earlier.query_or_url) == same and earlier.outcome in (Outcome.OK, Outcome.EMPTY):
            return Refusal(what=query, why=f"the same words were searched for at step {earlier.step}")
    return None


def _check_url(state: Research, url: str) -> Refusal | None:
    spelled = canonical(url)
    if not spelled:
        return Refusal(what=url, why="this is not a web address")
    if spelled in visited(state):
        return Refusal(what=url, why="this address was visited before")
    if spelled not in known_urls(state):
        return Refusal(what=url, why="this address stands on no page or result of this run, nor in a person's words")
    if not state.settings.admits(url):
        return Refusal(what=url, why="this address is outside the domains that were chosen")
    if is_excluded(url, excluded(notes(state))):
        return Refusal(what=url, why="a person's note rules this address out")
    return Refusal(what=url, why="a person struck this source") if struck(state, url) else None


def known_urls(state: Research) -> set[str]:
    """The addresses that may be fetched: found in results or on pages, or given by a person."""
    given = [url for text in (state.question, *notes(state)) for url in found_in(text)] + state.settings.start_urls
    return {canonical(url) for url in given} | {canonical(lead.value) for lead in state.leads.values() if lead.kind == "url"}
