"""A person's notes on an answer: which of them is to be read, what was understood, and which sentences of the
answer they leave as they are. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from agent.answering import fact_view
from agent.answering.claim_checks import FAILED_VERDICTS
from agent.answering.conflict_sentences import is_conflict_sentence
from agent.answering.plan import find_free_id, find_part
from agent.engine.run_state import RunState
from agent.evidence import citation_check
from agent.evidence.block_layout import lay_out_blocks
from agent.evidence.citation_check import filter_citations
from agent.roles.note_requests import UNDERSTOOD_WORDS, read_note
from agent.roles.report import MAX_ITEMS, RevisionReply
from agent.roles.research import MAX_PARTS
from agent.text.negative_constraints import find_excluded_sites
from agent.text.plurals import format_count
from agent.text.urls import canonicalize, find_urls, host
from agent.types import Answer, Fact, Note, NoteReading, PlanPart, ReportLength, Sentence

MAX_LINE_CHARS, MAX_SEARCH_CHARS = 200, 80
"""Characters of a reply's text that are kept, and of a search that are told."""
MAX_PIECE_FACTS = 16
"""Facts that a rewritten piece may use beside those that it cited (our own judgement: as many as a section of
a report, and the new ones)."""
MAX_QUOTE_CHARS = 120
"""Characters of a quote that the reader of a note is shown behind its sentence."""
MAX_CELLS = 4
"""Cells of a table that are written one by one, a call each (our own judgement); more are one piece."""
SHARE_OF_WORDS = 0.6
"""Share of its words that an answer keeps which is to be shorter (our own judgement: a change one sees)."""
LENGTH_WORDS = {"brief": "shorter (brief)", "standard": "standard length", "full": "a full report"}
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}", re.IGNORECASE)
_TARGET = re.compile(r"[sh]\d+")


@dataclass
class Piece:
    """What is written anew: the sentences it takes the place of (indices; empty for an addition), what it
    answers, and the facts it may use."""

    question: str
    part: str = ""
    places: list[int] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    is_cell: bool = False
    """Whether it takes the place of one cell of a table."""


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


def list_targets(answer: Answer) -> dict[str, list[int]]:
    """The ids of an answer's sentences and headings, with the indices of the sentences behind each."""
    targets = {f"s{n}": [n - 1] for n in range(1, len(answer.sentences) + 1)}
    blocks, heads = answer.blocks, [block for block in answer.blocks if block.kind == "heading"]
    for k, head in enumerate(heads, start=1):
        rest = blocks[blocks.index(head) + 1 :]
        end = next((n for n, b in enumerate(rest) if b.kind == "heading" and b.level <= head.level), None)
        ids = {block.id for block in rest[:end]}
        targets[f"h{k}"] = [n for n, said in enumerate(answer.sentences) if said.block in ids]
    return targets


def describe_target(answer: Answer, target: str) -> str:
    """The text of a sentence or heading by its id; "" for none that a comment may be on."""
    heads = [block.text for block in answer.blocks if block.kind == "heading" and not block.by_code]
    texts = heads if target.startswith("h") else [said.claim for said in answer.sentences]
    number = int(target[1:]) if _TARGET.fullmatch(target) else 0
    return texts[number - 1] if 0 < number <= len(texts) else ""


def write_numbered_lines(answer: Answer, facts: Mapping[str, Fact]) -> list[str]:
    """The answer for who reads the notes: each heading, and each sentence with the site and the beginning of
    the quote that it rests on, on a line behind its id."""
    numbers = {id(said): n for n, said in enumerate(answer.sentences, start=1)}
    if not answer.blocks:
        return [f"s{n}: {_describe_source(said, facts)}" for n, said in enumerate(answer.sentences, start=1)]
    lines, heads = list[str](), 0
    for layout in lay_out_blocks(answer):
        if layout.block.kind == "heading":
            heads += 1
            lines.append(f"h{heads}: {layout.block.text}")
        lines += [f"s{numbers[id(said)]}: {_describe_source(said, facts)}" for said in layout.sentences]
    return lines


def write_quoted_lines(answer: Answer, facts: Mapping[str, Fact]) -> list[str]:
    """The same for who may not see what a private note shaped: the verified quotes of each sentence."""
    quotes = {i: fact.quote for i, fact in facts.items() if fact.verified}
    lines = (" ".join(quotes[i] for i in said.fact_ids if i in quotes) for said in answer.sentences)
    return [f"s{n}: {line}" for n, line in enumerate(lines, start=1)]


def _describe_source(said: Sentence, facts: Mapping[str, Fact]) -> str:
    """A sentence with its sites, and the quote of its first fact where that has other words."""
    cited = [facts[i] for i in said.fact_ids if i in facts]
    sites = ", ".join(dict.fromkeys(host(fact.url) for fact in cited if fact.url))
    quote = cited[0].quote if cited and said.check != "quoted" else ""
    short = quote if len(quote) <= MAX_QUOTE_CHARS else f"{quote[:MAX_QUOTE_CHARS]}…"
    source = f" [{sites}{f': “{short}”' if short else ''}]" if sites else ""
    return f"{mark_refuted(said)}{source}"


def mark_refuted(said: Sentence, text: str = "") -> str:
    """A sentence of a former answer for a model: marked where its quotes do not support it."""
    text = text or said.claim
    return f"{text} (not supported by its quotes)" if said.check in FAILED_VERDICTS else text


def build_reading(
    state: RunState, reply: RevisionReply, step: int, *, asks: RevisionReply | None, **by: str
) -> NoteReading:
    """A reply as what code applies: unknown ids and sites are dropped, a comment stays with its sentence, a
    site that was excluded before stays so. What goes out is from `asks`, the reply on the notes that are not
    private; None where all are."""
    notes, answer = notes_on_answer(state), state.answer
    targets = list_targets(answer) if answer else {}
    parts = {part.id for part in state.plan}
    comments = [note for note in notes if note.kind == "comment"]
    length, max_words = _choose_length(reply, answer, by.get("by", ""))
    is_comment = bool(comments) and len(comments) == len(notes)
    about = [note.about for note in comments] if is_comment else _choose_about(state, reply, targets)
    named = [canonicalize(s) if "/" in s else s.strip().lower() for s in reply.excluded_sites]
    sites = [
        *find_excluded_sites(n.text for n in notes),
        *(s for s in named if _HOST.fullmatch(host(s) or s)),
    ]
    reading = NoteReading(
        note=notes[-1].step,
        step=step,
        understood=_clean(reply.understood),
        excluded_sites=list(dict.fromkeys(sites)),
        excluded_topics=_clean_all(reply.excluded_topics),
        about=list(dict.fromkeys(about)),
        only_parts=[] if is_comment else [i for i in dict.fromkeys(reply.only_parts) if i in parts],
        questions=_clean_all(asks.questions)[:MAX_ITEMS] if asks and not is_comment else [],
        searches=_clean_all(asks.searches) if asks else [],
        length=None if is_comment else length,
        max_words=0 if is_comment else max_words,
        form="" if is_comment else _clean(reply.form),
        addresses=find_urls(
            " ".join(n.text for n in notes if not (n.private or find_excluded_sites([n.text])))
        ),
        needs_research=bool(asks and asks.needs_research),
        not_understood=reply.not_understood,
        **by,  # type: ignore[arg-type]
    )
    pieces = [*reading.about, *reading.questions]
    others = [*reading.excluded_sites, *reading.excluded_topics, *reading.only_parts, *reading.searches]
    asks_nothing = not (pieces or others or reading.not_understood or reading.needs_research)
    form = bool(reading.length or reading.max_words or (reading.form and not pieces))
    if reading.trouble and reading.not_understood:  # the writer may follow what the reader could not be asked
        return reading.replace(is_whole=not is_comment, not_understood=[], needs_research=bool(asks))
    is_whole = form or (not is_comment and (reply.is_whole or asks_nothing))
    looks = reading.needs_research or bool(reading.questions or reading.searches or reading.addresses)
    return reading.replace(is_whole=is_whole, needs_research=looks)


def _choose_about(state: RunState, reply: RevisionReply, targets: Mapping[str, list[int]]) -> list[str]:
    """The sentences, headings and parts to be written again; a part that is named beside sentences of it only
    tells where they stand."""
    about = [re.sub(r"^part\s+", "", i.strip().lower()) for i in reply.about]
    said = state.answer.sentences if state.answer else []
    near = {said[n].part for i in about for n in targets.get(i, [])}
    parts = {part.id for part in state.plan} - near
    return [i for i in about if i in targets or i in parts]


def _choose_length(reply: RevisionReply, answer: Answer | None, by: str) -> tuple[ReportLength | None, int]:
    """The length that a reply asks for, and the most words. What is only to be shorter keeps its form with
    fewer words where a model writes it, and is written one length down where none does."""
    if answer is None or reply.length == "same":
        return None, reply.max_words
    if reply.length != "shorter":
        return reply.length, reply.max_words
    if by == "model":
        return None, reply.max_words or round(SHARE_OF_WORDS * len(answer.text.split()))
    if answer.length == "brief":
        return "brief", reply.max_words or len(answer.main_sentences[0].text.split())
    return "standard" if answer.length == "full" else "brief", reply.max_words


def _shorten(text: str) -> str:
    """A search in a few words: that of a comment is a whole sentence."""
    return text if len(text) <= MAX_SEARCH_CHARS else f"{text[:MAX_SEARCH_CHARS].rstrip(' ,.;')}…"


def _clean(text: str) -> str:
    return " ".join(text.split())[:MAX_LINE_CHARS]


def _clean_all(texts: Iterator[str] | Sequence[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, map(_clean, texts))))


def plan_after_reading(state: RunState, reading: NoteReading) -> list[PlanPart]:
    """The plan with only the parts that are wanted, and a new one for each new sub-question."""
    plan = [part for part in state.plan if not reading.only_parts or part.id in reading.only_parts]
    asked = {part.question.casefold() for part in state.plan}
    free = find_free_id(state.plan, state.facts.values())
    new = [question for question in reading.questions if question.casefold() not in asked]
    parts = [PlanPart(id=str(n), question=q, by=reading.by) for n, q in enumerate(new, start=free)]
    names = {part.id for part in plan}
    kept = [part.replace(after=[i for i in part.after if i in names]) for part in plan]
    return [*kept, *parts[: max(0, MAX_PARTS - len(kept))]]


def list_wishes(state: RunState) -> list[str]:
    """What a person's notes ask to look for, as they were understood, newest first; not private ones."""
    read = {reading.note for reading in state.readings}
    wishes = list[str]()
    for note in reversed(notes_on_answer(state) if state.answers else state.notes):
        if note.step in read:
            reading = next(one for one in state.readings if one.note == note.step)
            wishes += [*reading.questions, *reading.searches]
        elif note.kind != "look" and not note.private and not any(note.step < n for n in read):
            wishes += read_note(note.text).topics
    return list(dict.fromkeys(wishes))


def describe_reading(reading: NoteReading, plan: Sequence[PlanPart] = ()) -> str:
    """What is done about the notes, in a line; code writes it from what it applies."""
    questions = {part.id: part.question for part in plan}
    only = " and ".join(f"“{questions.get(i, i)}”" for i in reading.only_parts)
    places = sum(i.startswith(("s", "h")) for i in reading.about)
    done = [
        f"leave out {', '.join(reading.excluded_sites)}" if reading.excluded_sites else "",
        *(t if reading.by == "keyless" else f"nothing on {t}" for t in reading.excluded_topics),
        f"only {only}" if only else "",
        LENGTH_WORDS.get(reading.length or "", ""),
        f"{'at most' if reading.by == 'keyless' else 'about'} {reading.max_words} words"
        if reading.max_words
        else "",
        f"form: {reading.form}" if reading.form else "",
        *(f"new question: {question}" for question in reading.questions),
        *(f"look for: {_shorten(search)}" for search in reading.searches),
        *(f"read {address}" for address in reading.addresses),
        f"change {format_count(places, 'place')}" if places and not reading.is_whole else "",
    ]
    return "; ".join(filter(None, done)) or ("write the answer again" if reading.is_whole else "")


def state_understood(reading: NoteReading, plan: Sequence[PlanPart] = ()) -> str:
    """How a note was understood, for a person: the model's words where one read it, and what code does."""
    does, words = describe_reading(reading, plan), reading.understood.rstrip(".")
    said = f"{words} ({does})" if words and does else words or does
    missed = (
        f"Not understood without a model: “{' '.join(reading.not_understood)}”. "
        f"These words are understood: {UNDERSTOOD_WORDS}."
    )
    return " ".join(
        [
            *([f"Understood as: {said}."] if said else []),
            *([missed] if reading.not_understood else [] if said else ["Nothing to change."]),
        ]
    )


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
    told = "" if has_model and not describe_reading(reading) else state_understood(reading)
    return f"{told} The model reads all of it with its next step.".strip() if has_model else told


def split_answer(state: RunState, reading: NoteReading) -> tuple[list[Sentence | None], list[Piece]]:
    """The former answer's sentences as they stay (None for one that goes), and the pieces to be written.
    Nothing changes for notes of which nothing is understood."""
    answer, facts = state.answer, fact_view.facts_after_notes(state)
    if answer is None:
        return [], []
    if reading.not_understood and not (reading.needs_research or describe_reading(reading)):
        return list(answer.sentences), []
    targets = list_targets(answer)
    parts = {i for i in reading.about if i not in targets}
    wanted = {n for i in reading.about for n in targets.get(i, [])}
    wanted |= {n for n, said in enumerate(answer.sentences) if said.part and said.part in parts}
    kept, touched = list[Sentence | None](), list[int]()
    for n, said in enumerate(answer.sentences):
        (checked,), _ = filter_citations([said], facts, state.conflicts.values())
        is_gone = is_conflict_sentence(said.text) or fact_view.is_topic_excluded(state, said.claim)
        is_gone |= bool(reading.only_parts) and said.part not in ("", *reading.only_parts)
        has_fallen = checked.fact_ids != said.fact_ids
        touched += [n] if not is_gone and (has_fallen or n in wanted) else []
        kept.append(None if is_gone or has_fallen else checked)
    keys = _find_passages(answer, touched if reading.by == "model" else ())
    pieces = [
        _build_piece(state, answer, places, reading)
        for _, group in groupby(touched, key=keys.__getitem__)
        for places in _split_cells(answer, list(group))
    ]
    shown = {said.part for said in kept if said} | {piece.part for piece in pieces}
    for part in state.plan:
        own = [f for f in fact_view.facts_for_answer(state) if find_part(state.plan, f) == part.id]
        if part.id not in shown and own:
            pieces.append(Piece(part.question, part.id, facts=own[:MAX_PIECE_FACTS]))
    new = [fact for fact in fact_view.facts_for_answer(state) if fact.step > reading.note]
    if new and reading.searches and not pieces:
        pieces.append(Piece("; ".join(reading.searches), facts=new[:MAX_PIECE_FACTS]))
    return kept, [piece for piece in pieces if piece.facts]


def _find_passages(answer: Answer, touched: Sequence[int]) -> list[tuple[str, str]]:
    """The passage and part of each sentence. A passage is its block, or all blocks between two headings or
    tables where every sentence of them is touched."""
    first, start = {"": ""}, ""
    for block in answer.blocks:
        start = block.id if block.kind in ("heading", "table") or not start else start
        first[block.id] = start
        start = "" if block.kind == "table" else start
    own = [first.get(said.block, said.block) for said in answer.sentences]
    spared = {where for n, where in enumerate(own) if n not in touched}
    both = zip(answer.sentences, own, strict=True)
    return [(said.block if where in spared else where, said.part) for said, where in both]


def _split_cells(answer: Answer, places: list[int]) -> list[list[int]]:
    """The sentences of a block that are written together: a few cells of a table each by itself."""
    is_few = len(places) <= MAX_CELLS and all(answer.sentences[n].context for n in places)
    return [[n] for n in places] if is_few else [places]


def _build_piece(state: RunState, answer: Answer, places: list[int], reading: NoteReading) -> Piece:
    """The piece in the place of these sentences: from what is new, their own facts, and their part's."""
    part = answer.sentences[places[0]].part
    own = {i for n in places for i in answer.sentences[n].fact_ids}
    usable = fact_view.facts_for_answer(state, most=len(state.facts))
    new = [fact for fact in usable if fact.step > reading.note]
    if reading.by == "keyless" and own <= {fact.id for fact in usable}:  # quotes stay, what is found joins
        asked = "; ".join(reading.searches) or state.full_question
        is_own = any(answer.sentences[n].claim in reading.searches for n in places)
        joining = new if is_own or not reading.searches else usable
        return Piece(asked, part, places, joining[:MAX_PIECE_FACTS])
    cited = [fact for fact in usable if fact.id in own]
    near = [fact for fact in usable if find_part(state.plan, fact) == part]
    ranked = {f.id: f for f in [*cited, *(f for f in new if f in near), *new, *near]}
    facts = list(ranked.values())[: len(cited) + MAX_PIECE_FACTS]
    question = next((p.question for p in state.plan if p.id == part), state.full_question)
    is_cell = len(places) == 1 and bool(answer.sentences[places[0]].context)
    return Piece(question, part, places, facts, is_cell)


def explain_unchanged(state: RunState, answer: Answer) -> str:
    """Why an answer that was sent back says the same; "" where something changed, or nobody asked."""
    reading, former = current_reading(state), state.answer
    if reading is None or former is None:
        return ""
    if any(change.kind != "same" for change in citation_check.diff_answers(former, answer)):
        return ""
    wish = f"“{'”, “'.join(map(_shorten, reading.searches))}”" if reading.searches else ""
    tried = [action for action in state.actions if action.step > reading.note]
    new = [fact for fact in state.facts.values() if fact.step > reading.note and fact.is_active]
    if reading.not_understood:
        why = f"“{' '.join(reading.not_understood)}” is not understood without a model"
    elif wish and not tried:
        why = f"no search was made for {wish}: the same words were searched for before, or none was left"
    elif wish and reading.by == "keyless":
        looked = format_count(len(tried), "further search or page", "further searches and pages")
        why = f"{looked} brought no new passage that has the words of {wish}"
    elif tried and not new:
        looked = format_count(len(tried), "further search or page", "further searches and pages")
        why = f"{looked} brought no new fact"
    elif reading.excluded_sites and not reading.is_whole:
        why = "no sentence rests on what is left out"
    else:
        why = "the facts that were found give no other wording"
    return f"Nothing changed in the sentences: {why}."
