"""The facts of a run after notes, marks and trust, and as a surface filters them. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from agent.engine.context import RunContext
from agent.engine.run_state import RunState
from agent.engine.state import Change, state_after
from agent.roles.check_claims import COMPARE_FACTS
from agent.roles.research import MAX_PARTS, ConflictRuling
from agent.text.contacts import remove_unfounded_contacts
from agent.text.plurals import list_first
from agent.text.urls import canonicalize, find_urls, is_excluded, site
from agent.types import Assessment, Conflict, Fact, PauseRequest, PlanPart, Proposal, Ruling, Turn

MAX_COMPARED_CONFLICTS = 12
"""Conflicts of one call: about 2,000 tokens of quotes."""
UNREACHABLE_CONFIDENCE = 1.01
"""A confidence that none reaches."""
MAX_PROMPT_FACTS = 40
"""Facts that the confidence is read from, so that the cost of a step does not grow with the run."""
MAX_FACT_CHARS = 24_000
"""Characters of the facts that a prompt shows, about 6,000 tokens, for the same reason."""
FACT_TAG_CHARS = 60
"""What stands around a fact in a prompt: its id, subject, host and date."""
FACT_STATUSES = (
    "checked",
    "disputed",
    "not found",
    "pinned",
    "struck",
    "own knowledge",
    "corrected",
    "flagged",
)
"""The statuses of a fact; several can hold at once."""


def note_texts(state: RunState, *, public: bool = False) -> list[str]:
    """A person's notes, oldest first, without the searches they asked for, which code runs by itself. The
    `public` ones are all that a role is shown whose words may go to engines and pages."""
    notes = [note for note in state.notes if note.kind != "look" and not (public and note.private)]
    return [note.text for note in notes]


def list_instructions(state: RunState, *, public: bool = False) -> list[str]:
    """What a person said besides the question: the instruction, then the notes (see `note_texts`)."""
    return [*filter(None, [state.settings.instruction.strip()]), *note_texts(state, public=public)]


def public_history(state: RunState) -> list[Turn]:
    """The earlier turns, after a private note without the answers: their writer was shown it."""
    return [turn.replace(bot="") if state.earlier_private_notes else turn for turn in state.history]


def excluded_sites(state: RunState) -> list[str]:
    """The sites that notes exclude, as a model read them; not what waits for the person's word."""
    excluded = list[str]()
    for reading in state.readings:
        excluded = [site for site in excluded if site not in reading.allowed_sites]
        excluded += [] if reading.waits else reading.excluded_sites
    return list(dict.fromkeys(excluded))


def facts_after_notes(state: RunState) -> dict[str, Fact]:
    """The facts without those of sources that a note excludes."""
    if not (excluded := excluded_sites(state)):
        return state.facts
    return {name: fact for name, fact in state.facts.items() if not is_excluded(fact.url, excluded)}


def all_facts(state: RunState) -> list[Fact]:
    """All facts for display, as after the notes: what one leaves out is struck, with its reason."""
    excluded, found = excluded_sites(state), list[Fact]()
    for fact in state.facts.values():
        source = next((site for site in excluded if is_excluded(fact.url, [site])), "")
        why = fact.struck_with or f"{source}, left out by a note"
        found.append(fact.replace(decision="struck", struck_with=why) if source else fact)
    return found


def facts_for_prompt(state: RunState, most: int = MAX_PROMPT_FACTS) -> list[Fact]:
    """The facts a prompt shows, `most` of them, of each part the best in turn: pinned first, then by
    relevance; none that is struck, excluded, part of an order to machines or from a source without trust."""
    pinned, rest = list[Fact](), list[Fact]()
    for fact in facts_after_notes(state).values():
        if fact.decision == "pinned":
            pinned.append(fact)
        elif fact.decision != "struck" and not fact.flagged and fact.trust > 0:
            rest.append(fact)
    for facts in (pinned, rest):
        facts.sort(key=lambda fact: (-fact.relevance, fact.step, fact.id))
    turns = take_turns([fact.part for fact in rest])[:most]
    return [*pinned, *map(rest.__getitem__, sorted(turns))][:most]


def take_turns(parts: Sequence[str]) -> list[int]:
    """The indices of `parts`: the first of each part, then the second of each, and so on."""
    ranks, order = dict[str, int](), list[tuple[int, int]]()
    for n, part in enumerate(parts):
        ranks[part] = ranks.get(part, -1) + 1
        order.append((ranks[part], n))
    return [n for _, n in sorted(order)]


def show_facts(
    facts: Sequence[Fact], settled: Collection[str] = (), *, with_quotes: bool = False
) -> dict[str, Any]:
    """What a prompt shows of these facts: `facts`, and in `brief` the ids of those it shows by their
    statement alone. All are whole, with subject, source and date (and quote), while they take MAX_FACT_CHARS;
    then those of `settled` parts are brief. What has no room even so is left out, each part's last first."""
    sizes, brief, kept, left = list[int](), list[str](), list[int](), MAX_FACT_CHARS
    for fact in facts:
        quote = fact.quote if with_quotes and fact.quote != fact.statement else ""
        sizes.append(len(fact.statement) + len(quote) + FACT_TAG_CHARS)
    is_full = sum(sizes) > MAX_FACT_CHARS
    for n in take_turns([fact.part for fact in facts]):
        fact = facts[n]
        is_brief = is_full and fact.part in settled and not fact.disputed and fact.decision != "pinned"
        left -= len(fact.statement) if is_brief else sizes[n]
        if left < 0 and kept:
            break
        kept.append(n)
        brief += [fact.id] if is_brief else []
    return {"facts": [facts[n] for n in sorted(kept)], "brief": brief}


def facts_for_answer(state: RunState) -> list[Fact]:
    """The facts that may be written up, best first: those that are verified or pinned, disputed or not."""
    known = facts_for_prompt(state, most=len(state.facts))
    return [fact for fact in known if fact.verified or fact.decision == "pinned"]


def is_from_source(url: str, source: str) -> bool:
    """Whether an address is this page, or on this host or site."""
    return bool(url) and (source in (url, site(url)) or is_excluded(url, [source]))


def find_struck_source(state: RunState, url: str) -> str:
    """The struck source that an address belongs to; "" for none."""
    return next((source for source in state.strikes if is_from_source(url, source)), "")


def recorded_urls(state: RunState) -> list[str]:
    """Every address that was requested or arrived at, as it was fetched."""
    return [url for page in state.pages.values() for url in (page.url, page.final_url) if url]


def clean_message(state: RunState, text: str, known: Iterable[str] = ()) -> str:
    """A text to the person that a model worded, on one line, without contacts that were neither found nor
    given; `known` are addresses beside those of the run's pages."""
    given = " ".join([state.question, *(turn.user for turn in state.history), *note_texts(state)])
    urls = [*recorded_urls(state), *state.settings.start_urls, *find_urls(given), *known]
    return remove_unfounded_contacts(" ".join(text.split()), urls, given=given)


def visited_urls(state: RunState) -> set[str]:
    """Every address that was requested or arrived at, in its canonical spelling."""
    return {canonicalize(url) for url in recorded_urls(state)} - {""}


def confidence_goal(state: RunState) -> float:
    """The confidence that hands a covered question over; unreachable in a run that is to use up a budget."""
    return UNREACHABLE_CONFIDENCE if state.settings.stop_point == "budget" else state.settings.threshold


def requested_retry(state: RunState) -> Proposal | None:
    """The first search or address that a person asked to try again and that was not tried since."""
    for wish in state.again:
        what = (wish.action, wish.query_or_url)
        if what not in [(d.action, d.query_or_url) for d in state.actions if d.step > wish.step]:
            return Proposal(
                next_action=wish.action,
                query_or_url=wish.query_or_url,
                reasoning="You asked to try this again.",
                by="person",
            )
    return None


def pause_for_new_conflicts(state: RunState) -> PauseRequest | None:
    """A pause for the conflicts since a person was last asked, where the run stops at the next one."""
    if state.settings.stop_point != "conflict":
        return None
    new, topics = list[str](), list[str]()
    for conflict in state.conflicts.values():
        if conflict.status == "open" and conflict.id not in state.met:
            new.append(conflict.id)
            about = " · ".join(filter(None, (conflict.subject, conflict.attribute)))
            topics.append(about or "what was read")
    if not new:
        return None
    why = f"Sources disagree: {list_first(topics, '; ')}."
    return PauseRequest(kind="conflict", why=why, conflicts=new)


def list_parts(parts: Iterable[str], question: str) -> list[PlanPart]:
    """The plan of a question: the parts that a model told apart, else the question as one."""
    told = [part.strip() for part in parts if part.strip()][:MAX_PARTS]
    asked = told if len(told) > 1 else [question]
    return [PlanPart(id=str(n), question=part, by="model") for n, part in enumerate(asked, 1)]


def find_free_id(plan: Sequence[PlanPart], facts: Iterable[Fact]) -> int:
    """The first number for a new part that no part has and no fact of a dropped one bears on."""
    used = [*(part.id for part in plan), *(fact.part for fact in facts)]
    return 1 + max((int(id) for id in used if id.isdecimal()), default=0)


def find_part(plan: Sequence[PlanPart], fact: Fact) -> str:
    """The id of the part that a fact bears on: the one named for it, or the only one; "" for none."""
    for part in plan:
        if part.id == fact.part or len(plan) == 1:
            return part.id
    return ""


def add_facts(
    state: RunState,
    step: int,
    new: Sequence[Fact],
    *,
    model: float | None = None,
    unanswered: Collection[str] = (),
    sides: Collection[str] = (),
    reviewed_by: RunContext | None = None,
) -> Change:
    """The change of new facts, each with its part of the plan, with a model's readings of the conflicts that
    they make. `model` is the model's own estimate, `unanswered` are the parts that it does not call answered,
    `sides` the ids of one fact for each side of an inconsistency that it reports."""
    change: Change = {"facts": [fact.replace(part=find_part(state.plan, fact)) for fact in new]}
    if reviewed_by and (rulings := review_conflicts(state_after(state, change), reviewed_by)):
        change["rulings"] = rulings
    said = Assessment(step=step, model=model, unanswered=list(unanswered), sides=list(sides))
    return {**change, "assessments": [said]}


def open_conflicts(state: RunState) -> list[Conflict]:
    """The open conflicts, those about the question first."""
    found = [conflict for conflict in state.conflicts.values() if conflict.status == "open"]
    return sorted(found, key=lambda conflict: not conflict.asks)


def read_rulings(conflicts: Sequence[Conflict], given: Sequence[ConflictRuling], step: int) -> list[Ruling]:
    """A model's readings of these conflicts; of others they count for nothing."""
    said, found = {ruling.id: ruling for ruling in given}, list[Ruling]()
    for conflict in conflicts:
        if ruling := said.get(conflict.id):
            made = Ruling(
                conflict=conflict.id,
                kind=conflict.kind,
                values=conflict.values,
                ruling=ruling.ruling,
                chosen="",
                reason=" ".join(ruling.reason.split())[:300],
                by="model",
                step=step,
            )
            found.append(made)
    return found


def review_conflicts(state: RunState, tools: RunContext) -> list[Ruling]:
    """A model's readings, by one call, of the open conflicts that no one ruled on; none without those."""
    asked, named = list[Conflict](), set[str]()
    for conflict in open_conflicts(state):
        if not (conflict.ruling or conflict.model_ruling) and len(asked) < MAX_COMPARED_CONFLICTS:
            asked.append(conflict)
            named.update(i for value in conflict.values for i in value.fact_ids)
    if not asked or not tools.client:
        return []
    result = tools.judge(
        COMPARE_FACTS,
        question=state.own.relevance_question(state),
        conflicts=asked,
        facts=[fact for name, fact in state.facts.items() if name in named],
    )
    return read_rulings(asked, result.value.conflicts, tools.step)


def filter_facts(facts: Iterable[Fact], find: str = "", status: str = "") -> list[Fact]:
    """The facts that match, newest first: all words occur in the fact, its quote, its former words, its
    address or its statuses, which have the `status` (one of FACT_STATUSES) where one is given."""
    found = list[Fact]()
    for fact in facts:
        statuses = fact_statuses(fact)
        text = " ".join((fact.statement, fact.quote, fact.former, fact.url, *statuses, fact.id)).casefold()
        has_words = all(word in text for word in find.casefold().split())
        found += [fact] if has_words and status in ("", *statuses) else []
    return sorted(found, key=lambda fact: (-fact.step, fact.start, fact.id))


def fact_statuses(fact: Fact) -> list[str]:
    """All statuses of a fact, the most important first."""
    found = "disputed" if fact.disputed else "checked"
    statuses = [
        "own knowledge" if fact.is_own_knowledge else "",
        "" if fact.decision == "none" else fact.decision,
        "flagged" if fact.flagged else "",
        "" if fact.is_own_knowledge else found if fact.verified else "not found",
        "corrected" if fact.former else "",
    ]
    return [status for status in statuses if status]


def main_fact_status(fact: Fact) -> str:
    """The status of a fact in a few words."""
    if fact.is_own_knowledge:
        return "struck" if fact.decision == "struck" else "own knowledge"
    if fact.former and not fact.verified and fact.decision == "none":
        return "not carried by its quote"
    return fact_statuses(fact)[0]
