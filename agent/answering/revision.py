"""A person's notes on an answer: which of them is to be read, what was understood, and which of its sections
and tables are written anew. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from agent.answering.claim_checks import FAILED_VERDICTS
from agent.engine.run_state import RunState
from agent.evidence.block_layout import BlockLayout, describe_gaps, lay_out_blocks
from agent.roles.note_requests import UNDERSTOOD_WORDS, read_note
from agent.roles.report import MAX_ITEMS, RevisionReply
from agent.text.negative_constraints import find_excluded_sites
from agent.text.plurals import format_count
from agent.text.urls import canonicalize, find_urls, host
from agent.types import Actor, Answer, AnswerBlock, Fact, Note, NoteReading, PlanPart, ReportLength, Sentence

MAX_LINE_CHARS, MAX_SEARCH_CHARS = 200, 80
"""Characters of a reply's text that are kept, and of a search that are told."""
MAX_QUOTE_CHARS = 120
"""Characters of a quote that the reader of a note is shown behind its sentence."""
SHARE_OF_WORDS = 0.6
"""Share of its words that an answer keeps which is to be shorter (our own judgement: a change one sees)."""
LENGTH_WORDS = {"brief": "shorter (brief)", "standard": "standard length", "full": "a full report"}
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}", re.IGNORECASE)


def notes_on_answer(state: RunState) -> list[Note]:
    """The notes since the newest answer was begun, oldest first; none before there is one. A note that came
    while it was written has the number of its step."""
    since = state.answer.step if state.answer else None
    return [note for note in state.notes if since is not None and note.step >= since and note.kind != "look"]


def has_unread_note(state: RunState) -> bool:
    """Whether a note on the answer was not read yet."""
    notes = notes_on_answer(state)
    return bool(notes) and not any(reading.note >= notes[-1].step for reading in state.readings)


def current_reading(state: RunState) -> NoteReading | None:
    """What the notes since the newest answer were understood as; None where there are none."""
    notes = notes_on_answer(state)
    read = [reading for reading in state.readings if notes and reading.note >= notes[0].step]
    return read[-1] if read else None


def list_targets(answer: Answer) -> dict[str, set[str]]:
    """By the id of a sentence (s3), heading (h2) or table (t1) the ids of the blocks that are written anew
    for it: a table, else all text between two headings or tables; for a heading all below it."""
    reach, run = dict[str, set[str]](), set[str]()
    for block in answer.blocks:
        run = run if block.kind in ("paragraph", "list") else set()
        run.add(block.id)
        reach[block.id] = run
        run = run if block.kind in ("paragraph", "list") else set()
    targets = {f"s{n}": reach.get(said.block, set()) for n, said in enumerate(answer.sentences, start=1)}
    tables = [block for block in answer.blocks if block.kind == "table"]
    targets |= {f"t{n}": reach[table.id] for n, table in enumerate(tables, start=1)}
    for n, head in enumerate((block for block in answer.blocks if block.kind == "heading"), start=1):
        rest = answer.blocks[answer.blocks.index(head) + 1 :]
        below = takewhile(lambda b, level=head.level: b.kind != "heading" or b.level > level, rest)  # type: ignore[misc]
        targets[f"h{n}"] = {block.id for block in below}
    return targets


def describe_target(answer: Answer, target: str) -> str:
    """The text of a sentence or heading by its id; "" for none that a comment may be on."""
    heads = [block.text for block in answer.blocks if block.kind == "heading" and not block.by_code]
    texts = {f"s{n}": said.claim for n, said in enumerate(answer.sentences, start=1)}
    return (texts | {f"h{n}": text for n, text in enumerate(heads, start=1)}).get(target, "")


def write_numbered_lines(answer: Answer, facts: Mapping[str, Fact]) -> list[str]:
    """The answer for who reads the notes: each heading, each table with its columns and empty cells, and each
    sentence with its sites and, where that has other words, the quote of its first fact, behind its id."""
    numbers = {id(said): n for n, said in enumerate(answer.sentences, start=1)}
    lines, counts = list[str](), {"heading": 0, "table": 0}
    for layout in lay_out_blocks(answer) or [BlockLayout(AnswerBlock(id=""), answer.sentences)]:
        block = layout.block
        if block.kind in counts:
            counts[block.kind] += 1
            gaps = describe_gaps(Answer(n=0, verdict="partial", blocks=[block], sentences=layout.sentences))
            text = block.text if block.kind == "heading" else f"table {' | '.join(block.heads)}"
            empty = f"; empty: {gaps}" if gaps else ""
            lines.append(f"{block.kind[0]}{counts[block.kind]}: {text}{empty}")
        for said in layout.sentences:
            cited = [facts[i] for i in said.fact_ids if i in facts]
            sites = ", ".join(dict.fromkeys(host(fact.url) for fact in cited if fact.url))
            quote = cited[0].quote if cited and said.check != "quoted" else ""
            quote = f": “{shorten(quote, MAX_QUOTE_CHARS)}”" if quote else ""
            source = f" [{sites}{quote}]" if sites else ""
            lines.append(f"s{numbers[id(said)]}: {mark_refuted(said)}{source}")
    return lines


def write_quoted_lines(answer: Answer, facts: Mapping[str, Fact]) -> list[str]:
    """The same for who may not see what a private note shaped: the verified quotes of each sentence."""
    quotes = {i: fact.quote for i, fact in facts.items() if fact.verified}
    lines = (" ".join(quotes[i] for i in said.fact_ids if i in quotes) for said in answer.sentences)
    return [f"s{n}: {line}" for n, line in enumerate(lines, start=1)]


def mark_refuted(said: Sentence, text: str = "") -> str:
    """A sentence of a former answer for a model: marked where its quotes do not support it."""
    text = text or said.claim
    return f"{text} (not supported by its quotes)" if said.check in FAILED_VERDICTS else text


def build_reading(
    state: RunState, reply: RevisionReply, step: int, *, asks: RevisionReply | None, by: Actor, trouble: str
) -> NoteReading:
    """A reply as what code applies: unknown ids and sites are dropped, a comment stays with its sentence, a
    site that was excluded before stays so. What goes out is from `asks`, the reply on the notes that are not
    private; None where all are."""
    notes, answer = notes_on_answer(state), state.answer or Answer(n=0, verdict="no_evidence")
    texts = [note.text for note in notes]
    targets, parts = list_targets(answer), {part.id for part in state.plan}
    about = [re.sub(r"^part\s+", "", name.strip().lower()) for name in reply.about]
    touched = {block for name in about for block in targets.get(name, ())}
    near = {said.part for said in answer.sentences if said.block in touched}
    about = [name for name in about if name in targets or name in parts - near]
    length: ReportLength | None = None
    max_words, form = reply.max_words, _clean([reply.form])
    if reply.length == "shorter" and by == "model":  # what is only to be shorter keeps its form
        max_words = max_words or round(SHARE_OF_WORDS * len(answer.text.split()))
    elif reply.length == "shorter":
        length = "standard" if answer.length == "full" else "brief"
        if answer.length == "brief":  # one sentence is the least
            max_words = max_words or len(answer.main_sentences[0].text.split())
    elif reply.length != "same":
        length = reply.length
    is_comment = all(note.kind == "comment" for note in notes)
    if is_comment:
        about, length, max_words, form = [note.about for note in notes], None, 0, []
    named = [canonicalize(s) if "/" in s else s.strip().lower() for s in reply.excluded_sites]
    sites = [*find_excluded_sites(texts), *(s for s in named if _HOST.fullmatch(host(s) or s))]
    public = [note.text for note in notes if not (note.private or find_excluded_sites([note.text]))]
    reading = NoteReading(
        note=notes[-1].step,
        step=step,
        by=by,
        trouble=trouble,
        understood="".join(_clean([reply.understood])),
        excluded_sites=list(dict.fromkeys(sites)),
        excluded_topics=_clean(reply.excluded_topics),
        about=list(dict.fromkeys(about)),
        only_parts=[] if is_comment else [i for i in dict.fromkeys(reply.only_parts) if i in parts],
        questions=_clean(asks.questions)[:MAX_ITEMS] if asks and not is_comment else [],
        searches=_clean(asks.searches) if asks else [],
        addresses=find_urls(" ".join(public)),
        length=length,
        max_words=max_words,
        form="".join(form),
        not_understood=reply.not_understood,
    )
    looks = bool(asks and asks.needs_research)
    if trouble and reading.not_understood:  # the writer may follow what the reader could not be asked
        return reading.replace(is_whole=not is_comment, not_understood=[], needs_research=bool(asks))
    pieces = [*reading.about, *reading.questions]
    others = [*reading.excluded_sites, *reading.excluded_topics, *reading.only_parts, *reading.searches]
    asks_nothing = not (pieces or others or reading.not_understood or looks)
    is_form = bool(length or max_words or (form and not pieces))
    return reading.replace(
        is_whole=is_form or (not is_comment and (reply.is_whole or asks_nothing)),
        needs_research=looks or bool(reading.questions or reading.searches or reading.addresses),
    )


def shorten(text: str, most: int = MAX_SEARCH_CHARS) -> str:
    """The beginning of a text that is longer than `most` characters."""
    return text if len(text) <= most else f"{text[:most].rstrip(' ,.;')}…"


def _clean(texts: Iterable[str]) -> list[str]:
    """Texts of a reply, each once on one line; none that is empty."""
    return list(dict.fromkeys(filter(None, (" ".join(text.split())[:MAX_LINE_CHARS] for text in texts))))


def list_wishes(state: RunState) -> list[str]:
    """What a person's notes ask to look for, as they were understood, newest first; not private ones."""
    read = {reading.note: reading for reading in reversed(state.readings)}
    wishes = list[str]()
    for note in reversed(notes_on_answer(state) if state.answers else state.notes):
        if reading := read.get(note.step):
            wishes += [*reading.questions, *reading.searches]
        elif note.kind != "look" and not note.private and not any(note.step < n for n in read):
            wishes += read_note(note.text).topics
    return list(dict.fromkeys(wishes))


def list_effects(reading: NoteReading, plan: Sequence[PlanPart] = ()) -> list[str]:
    """What is done about the notes, a few words each; code writes them from what it applies."""
    questions = {part.id: part.question for part in plan}
    only = " and ".join(f"“{questions.get(i, i)}”" for i in reading.only_parts)
    places = sum(not name.isdecimal() for name in reading.about)
    limit = "at most" if reading.by == "keyless" else "about"
    done = [
        f"leave out {', '.join(reading.excluded_sites)}" if reading.excluded_sites else "",
        *(t if reading.by == "keyless" else f"nothing on {t}" for t in reading.excluded_topics),
        f"only {only}" if only else "",
        LENGTH_WORDS.get(reading.length or "", ""),
        f"{limit} {reading.max_words} words" if reading.max_words else "",
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
    missed = " ".join(reading.not_understood)
    told = [
        f"Understood as: {said}." if said else "" if missed else "Nothing to change.",
        f"Not understood without a model: “{missed}”. These words are understood: {UNDERSTOOD_WORDS}."
        if missed
        else "",
    ]
    return " ".join(filter(None, told))


def restate_guidance(state: RunState, *, has_model: bool) -> str:
    """How the newest guidance was understood that came before there is an answer: what code obeys of it, and
    who reads the rest; "" for none."""
    notes = [note for note in state.notes if note.kind == "steer"]
    if state.answers or not notes:
        return ""
    asked = read_note(notes[-1].text)
    reading = NoteReading(
        note=notes[-1].step,
        step=0,
        excluded_sites=asked.sites,
        searches=asked.topics,
        addresses=asked.addresses,
        length=asked.length,
        not_understood=[] if has_model else [*asked.unwanted, *asked.rest],
    )
    told = "" if has_model and not list_effects(reading) else state_understood(reading)
    return f"{told} The model reads all of it with its next step.".strip() if has_model else told
