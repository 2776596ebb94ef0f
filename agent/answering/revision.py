"""A person's notes on an answer: which is to be read, what it means, what is written anew for it. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent.answering.claim_checks import FAILED_VERDICTS
from agent.answering.fact_view import excluded_sites, facts_after_notes, is_from_source
from agent.engine.run_state import RunState
from agent.evidence.block_layout import BlockLayout, lay_out_blocks, list_gaps
from agent.roles.report import MAX_ITEMS, RevisionReply
from agent.text.plurals import format_count, list_first
from agent.text.urls import canonicalize, find_urls, host, is_excluded
from agent.types import (
    Answer,
    AnswerBlock,
    Fact,
    Note,
    NoteReading,
    PauseRequest,
    PlanPart,
    ReportLength,
    Sentence,
)

MAX_LINE_CHARS, MAX_QUOTE_CHARS = 200, 120
"""Characters of a reply's text that are kept, and of a search or a quote that are told."""
SHARE_OF_WORDS = 0.6
"""Share of its words that an answer keeps which is to be shorter (our own judgement: a change one sees)."""


def notes_on_answer(state: RunState) -> list[Note]:
    """The notes since the newest answer was begun, oldest first; none before there is one. A note that came
    while it was written has the number of its step."""
    since = state.answer.step if state.answer else None
    return [note for note in state.notes if since is not None and note.step >= since and note.kind != "look"]


def current_reading(state: RunState) -> NoteReading | None:
    """What the notes since the newest answer were understood as; None where there are none."""
    notes, last = notes_on_answer(state), state.readings[-1] if state.readings else None
    return last if last and notes and last.note >= notes[0].step else None


def has_unread_note(state: RunState) -> bool:
    """Whether a note on the answer was not read yet."""
    notes, reading = notes_on_answer(state), current_reading(state)
    return bool(notes) and (reading is None or reading.note < notes[-1].step)


def list_targets(answer: Answer) -> dict[str, set[str]]:
    """By the id of a sentence (s3), heading (h2), table (t1) or empty cell (c1.2) the ids of the blocks that
    are written anew for it: a table, a heading with all below it, else the text between two of these."""
    reach, run, targets = dict[str, set[str]](), set[str](), dict[str, set[str]]()
    above, counts = list[tuple[int, str]](), Counter[str]()
    for block in answer.blocks:
        is_text = block.kind in ("paragraph", "list")
        if block.kind == "heading":
            above = [(level, name) for level, name in above if level < block.level]
        for _, name in above:
            targets[name].add(block.id)
        run = run if is_text else set()
        run.add(block.id)
        reach[block.id] = run
        run = run if is_text else set()
        if block.kind in ("heading", "table"):
            counts[block.kind] += 1
            name = f"{block.kind[0]}{counts[block.kind]}"
            targets[name] = reach[block.id] if block.kind == "table" else set()
            above += [(block.level, name)] if block.kind == "heading" else []
    targets |= {f"s{n}": reach.get(said.block, set()) for n, said in enumerate(answer.sentences, start=1)}
    return targets | {name: reach[table.id] for name, table, _ in list_empty_cells(answer)}


def list_empty_cells(answer: Answer) -> Iterator[tuple[str, AnswerBlock, str]]:
    """The empty cells of an answer's tables: id, table, and what row and column call it."""
    gaps = list_gaps(answer.sentences)
    tables = [block for block in answer.blocks if block.kind == "table"]
    for n, table in enumerate(tables, start=1):
        for k, place in enumerate(gaps.get(table.id, ()), start=1):
            yield f"c{n}.{k}", table, table.describe_cell(*place)


def describe_target(answer: Answer, target: str) -> str:
    """The text of a sentence, heading or empty cell by its id; "" for none that a comment may be on."""
    heads = [block.text for block in answer.blocks if block.kind == "heading" and not block.by_code]
    texts = {f"s{n}": said.claim for n, said in enumerate(answer.sentences, start=1)}
    texts |= {name: cell for name, _, cell in list_empty_cells(answer)}
    return (texts | {f"h{n}": text for n, text in enumerate(heads, start=1)}).get(target, "")


def write_numbered_lines(answer: Answer, facts: Mapping[str, Fact]) -> list[str]:
    """The answer for who reads the notes: behind its id each heading, each table with its columns, each empty
    cell, and each sentence with its sites and, where that has other words, its first fact's quote."""
    empty = list(list_empty_cells(answer))
    numbers = {id(said): n for n, said in enumerate(answer.sentences, start=1)}
    lines, counts = list[str](), {"heading": 0, "table": 0}
    for layout in lay_out_blocks(answer) or [BlockLayout(AnswerBlock(id=""), answer.sentences)]:
        block = layout.block
        if block.kind in counts:
            counts[block.kind] += 1
            text = block.text if block.kind == "heading" else f"table {' | '.join(block.heads)}"
            lines.append(f"{block.kind[0]}{counts[block.kind]}: {text}")
            lines += [f"{name}: {cell}: (empty)" for name, table, cell in empty if table is block]
        for said in layout.sentences:
            cited = [facts[i] for i in said.fact_ids if i in facts]
            sites = ", ".join(dict.fromkeys(host(fact.url) for fact in cited if fact.url))
            quote = cited[0].quote if cited and said.check != "quoted" else ""
            quote = f": “{shorten(quote)}”" if quote else ""
            source = f" [{sites}{quote}]" if sites else ""
            lines.append(f"s{numbers[id(said)]}: {mark_refuted(said)}{source}")
    return lines


def mark_refuted(said: Sentence, text: str = "") -> str:
    """A sentence of a former answer for a model: marked where its quotes do not support it."""
    text = text or said.claim
    return f"{text} (not supported by its quotes)" if said.check in FAILED_VERDICTS else text


def build_reading(
    state: RunState, reply: RevisionReply, step: int, *, asks: RevisionReply | None
) -> NoteReading:
    """A model's reply as what code applies: unknown ids and sites are dropped, a comment stays with its
    sentence. What goes out is from `asks`, the reply on the notes that are not private; None where all are.
    Exclusions that leave out most of the facts wait for the person."""
    notes, answer = notes_on_answer(state), state.answer or Answer(n=0, verdict="no_evidence")
    targets, parts = list_targets(answer), {part.id for part in state.plan}
    about = [re.sub(r"^part\s+", "", name.strip().lower()) for name in reply.about]
    touched = {block for name in about for block in targets.get(name, ())}
    near = {said.part for said in answer.sentences if said.block in touched}
    about = [name for name in about if name in targets or name in parts - near]
    length: ReportLength | None = None
    if reply.length != "same" and reply.length != "shorter":
        length = reply.length
    max_words, form = reply.max_words, _clean([reply.form])
    if reply.length == "shorter":  # what is only to be shorter keeps its form
        max_words = max_words or round(SHARE_OF_WORDS * len(answer.text.split()))
    is_comment = all(note.kind == "comment" for note in notes)
    if is_comment:
        about, length, max_words, form = [note.about for note in notes], None, 0, []
    sites, allowed = _read_sites(state, notes, reply)
    active = [fact for fact in facts_after_notes(state).values() if fact.is_active]
    reading = NoteReading(
        note=notes[-1].step,
        step=step,
        by="model",
        understood="".join(_clean([reply.understood])),
        excluded_sites=sites,
        allowed_sites=allowed,
        waits=2 * sum(is_excluded(fact.url, sites) for fact in active) > len(active),
        removed=[name for name in dict.fromkeys(map(str.lower, reply.removed)) if name in targets],
        about=list(dict.fromkeys(about)),
        only_parts=[] if is_comment else [i for i in dict.fromkeys(reply.only_parts) if i in parts],
        questions=_clean(asks.questions)[:MAX_ITEMS] if asks and not is_comment else [],
        searches=_clean(asks.searches) if asks else [],
        addresses=[
            url
            for url in find_urls(" ".join(note.text for note in notes if not note.private))
            if not is_excluded(url, sites)
        ],
        length=length,
        max_words=max_words,
        form="".join(form),
    )
    looks = bool(asks and asks.needs_research)
    pieces = [*reading.about, *reading.questions]
    others = [
        *reading.excluded_sites,
        *reading.allowed_sites,
        *reading.removed,
        *reading.only_parts,
        *reading.searches,
    ]
    is_form = bool(length or max_words or (form and not pieces))
    return reading.replace(
        is_whole=is_form or (not is_comment and (reply.is_whole or not (pieces or others or looks))),
        needs_research=looks or bool(reading.questions or reading.searches or reading.addresses),
    )


def _read_sites(state: RunState, notes: Sequence[Note], reply: RevisionReply) -> tuple[list[str], list[str]]:
    """The hosts and addresses to exclude, of those that the run knows or a note spells; and those to allow
    again, where a note names a part of the host: no model weakens an exclusion by itself."""
    urls = [*state.pages, *(fact.url for fact in state.facts.values())]
    spelled = " ".join(note.text for note in state.notes).lower()
    called = (canonicalize(name) if "/" in name else name.strip().lower() for name in reply.excluded_sites)
    sites = [
        name
        for name in dict.fromkeys(called)
        if "." in name and (any(is_from_source(url, name) for url in urls) or (host(name) or name) in spelled)
    ]
    freed = {name.strip().lower() for name in reply.allowed_sites}
    said = " ".join(note.text for note in notes).lower()
    allowed = [
        name
        for name in excluded_sites(state)
        if name in freed and any(len(x) > 2 and x in said for x in (host(name) or name).split(".")[:-1])
    ]
    return sites, allowed


def pause_for_exclusion(state: RunState) -> PauseRequest | None:
    """A pause for the newest reading where it would leave out most of the facts."""
    reading = state.readings[-1] if state.readings else None
    if reading is None or not reading.waits or has_unread_note(state):
        return None
    active = [fact for fact in facts_after_notes(state).values() if fact.is_active]
    out = [fact for fact in active if is_excluded(fact.url, reading.excluded_sites)]
    sites = Counter(host(fact.url) for fact in out)
    named = list_first(f"{name} ({count})" for name, count in sites.most_common())
    why = f"Your note leaves out {len(out)} of {len(active)} facts: {named}"
    return PauseRequest(kind="exclusion", why=f"{why}. Leave them out, or keep them?")


def shorten(text: str) -> str:
    """The beginning of a text that is longer than MAX_QUOTE_CHARS."""
    return text if len(text) <= MAX_QUOTE_CHARS else f"{text[:MAX_QUOTE_CHARS].rstrip(' ,.;')}…"


def _clean(texts: Iterable[str]) -> list[str]:
    """Texts of a reply, each once on one line; none that is empty."""
    return list(dict.fromkeys(filter(None, (" ".join(text.split())[:MAX_LINE_CHARS] for text in texts))))


def list_wishes(state: RunState) -> list[str]:
    """What a person's notes ask to look for, as they were understood, newest first; not private ones."""
    notes, wishes = notes_on_answer(state), dict[str, None]()
    for reading in reversed(state.readings):
        if notes and reading.note >= notes[0].step:
            wishes |= dict.fromkeys([*reading.questions, *reading.searches])
    return list(wishes)


def list_effects(reading: NoteReading, plan: Sequence[PlanPart] = ()) -> list[str]:
    """What is done about the notes, a few words each; code writes them from what it applies."""
    questions = {part.id: part.question for part in plan}
    lengths = {"brief": "shorter (brief)", "standard": "standard length", "full": "a full report"}
    only = " and ".join(f"“{questions.get(i, i)}”" for i in reading.only_parts)
    places = sum(not name.isdecimal() for name in reading.about)
    done = [
        f"leave out {', '.join(reading.excluded_sites)}" if reading.excluded_sites else "",
        f"use {', '.join(reading.allowed_sites)} again" if reading.allowed_sites else "",
        f"remove {format_count(len(reading.removed), 'place')}" if reading.removed else "",
        f"only {only}" if only else "",
        lengths.get(reading.length or "", ""),
        f"about {reading.max_words} words" if reading.max_words else "",
        f"form: {reading.form}" if reading.form else "",
        *(f"new question: {question}" for question in reading.questions),
        *(f"look for: {shorten(search)}" for search in reading.searches),
        *(f"read {address}" for address in reading.addresses),
        f"change {format_count(places, 'place')}" if places and not reading.is_whole else "",
    ]
    return list(filter(None, done)) or (["write the answer again"] if reading.is_whole else [])


def state_understood(reading: NoteReading, plan: Sequence[PlanPart] = ()) -> str:
    """How a note was understood, for a person: the model's words where one read it, and what code does."""
    does, words = "; ".join(list_effects(reading, plan)), reading.understood.rstrip(".")
    said = f"{words} ({does})" if words and does else words or does
    return f"Understood as: {said}." if said else "Nothing to change."


def restate_guidance(state: RunState, *, has_model: bool) -> str:
    """What becomes of the newest guidance that came before there is an answer; "" for none."""
    notes = [note for note in state.notes if note.kind == "steer"]
    if state.answers or not notes:
        return ""
    if has_model:
        return "The model reads it with its next step."
    if notes[-1].private:
        return "No model reads it, and a private note is not searched for."
    return "No model reads it; its words are searched for next."
