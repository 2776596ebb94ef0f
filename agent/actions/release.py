"""What of a run may leave: the one place that decides it. Exports, bundles and shares read a run through it,
and erasing a private note for good takes what was made from it by the same rule.

Where a text comes from decides. Withheld is a private note, what it was understood as, and each text of a
step in which it was read or a model was shown it, but for what was known before, what code says, and titles
and supported sentences without a word of their own. The second check: no text leaves that has a word only
private notes have, or repeats a withheld sentence. The state is folded from the rest."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, get_args

from pydantic import Field

from agent.actions.commit import ActionContext
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import Change
from agent.errors import UsageError
from agent.export.hiding import REDACTED, is_withheld
from agent.flows import FLOWS
from agent.store.database import PURGE_DUE
from agent.text.folded_search import MIN_EMBEDDED_FILE_CHARS, find_private_words
from agent.text.tokens import content_stems, stem, stem_words, tokenize
from agent.text.word_lists import COMMON_WORDS
from agent.types import ModelCall, Record, Status, Step
from agent.types.answers import SUPPORTED_VERDICTS

Hide = Callable[[str], str]
CODES_TEXTS = frozenset("certainty journey why_stopped because remark lines".split())
LABELS = frozenset("title heading heads row_labels missing open assumed".split())
"""What of an answer nobody checks, and must have no word of its own."""
READING_IDS = frozenset("by about removed only_parts length".split())
SENTENCE_FIELDS = frozenset(("text", "check", "fact_ids"))
MIN_PHRASE, MAX_PHRASE, MIN_SENTENCE_CHARS = 3, 12, 12
"""Words that a private text has at least to be recognised as a whole, how many of it are compared, and the
letters that a withheld sentence has at least to be looked for."""


@dataclass
class Privacy:
    """The private notes of a run, what they were understood as in `reading_steps`, and what tells that a text
    holds one of both: `words` that only they have, how they begin, and how withheld sentences begin.
    `first` is the first step with one (-1: none); `public` are texts that were recorded without them, `stems`
    the words of these and of pages; `kept` stays, whatever it holds."""

    notes: list[str] = field(default_factory=list)
    readings: list[str] = field(default_factory=list)
    reading_steps: set[int] = field(default_factory=set)
    first: int = -1
    words: list[str] = field(default_factory=list)
    phrases: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    public: set[str] = field(default_factory=set)
    stems: set[str] = field(default_factory=set)
    kept: Collection[str] = ()

    def gives_away(self, text: str) -> bool:
        """Whether a text has a word of a private one, or all of it."""
        if find_private_words(text, self.words, (), least=MIN_EMBEDDED_FILE_CHARS):
            return True
        joined = _join(text) if self.phrases else ""
        return any(phrase in joined for phrase in self.phrases if phrase.count(" ") + 1 >= MIN_PHRASE)

    def repeats(self, text: str) -> bool:
        """Whether a text has a sentence that was withheld."""
        joined = _join(text) if self.sentences else ""
        return any(sentence in joined for sentence in self.sentences)

    def is_shown_in(self, call: ModelCall) -> bool:
        """Whether a call holds a private text, or one made from it, beside the instructions of its role."""
        texts = [*(m["content"] for m in call.prompt if m["role"] != "system"), call.reply, call.error]
        joined = f" {' '.join(map(_join, texts))} "
        return any(f" {phrase} " in joined for phrase in self.phrases) or any(
            self.gives_away(text) or self.repeats(text) for text in texts
        )


def release(
    bench: ActionContext,
    run_id: str,
    hide: Hide = lambda _text: REDACTED,
    only: Sequence[str] = (),
    kept: Collection[str] = (),
) -> tuple[RunSnapshot, list[ModelCall]]:
    """The run and its model calls as they may leave, with what `hide` gives in place of each text that may
    not; no calls where the run holds nothing private. `only`: of all private texts withhold just these, and
    keep the `kept` ones."""
    view = bench.snapshot(run_id)
    if not (view.state.notes or view.state.earlier_private_notes or view.state.file_words):
        return view, []
    calls = bench.store.calls.list_for_run(run_id)
    pages, _ = bench.store.pages.get_many(page.page_id for page in view.state.pages.values() if page.page_id)
    privacy = find_private(view.steps, calls, only, (page.text for page in pages.values()))
    if privacy.first < 0:
        return view, []
    privacy.kept = kept
    made_in = [next((s.n for s in view.steps if s.n >= c.step and s.by != "person"), c.step) for c in calls]
    steps, freed = [step for step in view.steps if step.n < privacy.first], list(calls)
    for n in range(privacy.first, max([view.head, *made_in]) + 1):  # what is withheld bears on the later ones
        own = [i for i, step in enumerate(made_in) if step == n]
        if is_shown := any(privacy.is_shown_in(calls[i]) for i in own):  # the others got what it wrote
            for i in own:
                call = freed[i]
                prompt = [
                    m if m["role"] == "system" else {**m, "content": hide(m["content"])} for m in call.prompt
                ]
                key = hashlib.sha256(hide(call.key).encode()).hexdigest()  # it was a hash of the prompt
                reply, error = (text and hide(text) for text in (call.reply, call.error))
                freed[i] = call.replace(key=key, prompt=prompt, reply=reply, error=error)
        steps += [_release_step(s, privacy, hide, is_shown) for s in view.steps if s.n == n]
    run = view.run.replace(error=hide(view.run.error)) if privacy.gives_away(view.run.error) else view.run
    return replace(view, run=run, steps=steps, state=FLOWS[run.settings.flow].fold_steps(steps)), freed


def find_private(
    steps: Sequence[Step],
    calls: Sequence[ModelCall] = (),
    only: Sequence[str] = (),
    pages: Iterable[str] = (),
) -> Privacy:
    """The private notes of a run and of the earlier turns that it remembers, and the words that only they, or
    what a model understood them as, have: no public act of a person, no quote, no prompt's instruction; and
    no page (`pages` are their texts), but for names and figures."""
    found, heard, read, is_private = Privacy(), list[int](), set[int](), False
    public = [*list_vocabulary(), *{m["content"] for c in calls for m in c.prompt if m["role"] == "system"}]
    for step in steps:
        own = {note["text"]: note["step"] for note in step.change.get("notes", []) if note.get("private")}
        own |= dict.fromkeys(step.change.get("earlier_private_notes", []), -1)
        own = {text: n for text, n in own.items() if not is_withheld(text) and (not only or text in only)}
        found.notes += own
        heard += own.values()
        for reading in step.change.get("readings", []):
            if is_private := reading["note"] in read or any(n <= reading["note"] for n in heard):
                read.add(reading["note"])  # the person's decision about it is recorded as one more reading
                found.reading_steps.add(step.n)
                made = _list_texts({name: said for name, said in reading.items() if name not in READING_IDS})
                found.readings += [text for text in made if text and not is_withheld(text)]
                heard = []
        if is_private and (step.change.get("halt") or {}).get("kind") == "exclusion":
            found.reading_steps.add(step.n)
        if found.first < 0 and (found.notes or (not only and step.change.get("file_words"))):
            found.first = step.n
        public += _list_texts(step.change) if found.first < 0 else _list_public_texts(step.change)
    private = [*found.notes, *found.readings]
    if not private:
        return found
    on_pages = {stem for text in pages for stem in stem_words(text)} | {stem(word) for word in COMMON_WORDS}
    plain = {w for text in private for raw in text.split() if raw.islower() for w in tokenize(raw)}
    words = find_private_words(" ".join(private), private, public)
    found.words = [w for w in words if not (w in plain and w.isalpha() and stem(w) in on_pages)]
    shown = [_join(text) for text in public]
    phrases = [" ".join(tokenize(text)[:MAX_PHRASE]) for text in private]
    found.phrases = [phrase for phrase in phrases if phrase and not any(phrase in text for text in shown)]
    found.public, found.stems = set(public), on_pages.union(*map(stem_words, public))
    return found


def _list_public_texts(change: dict[str, Any]) -> Iterator[str]:
    """What pages, results and a person's public acts put into a step."""
    yield from _list_texts([change.get("question", ""), change.get("settings", {})])
    yield from (turn["user"] for turn in change.get("history", []))
    yield from (note["text"] for note in change.get("notes", []) if not note.get("private"))
    yield from (p["question"] for p in change.get("plan_parts", []) if p.get("by") == "person")
    yield from _list_texts([item.get("hits", []) for item in change.get("brought", [])])
    for page in change.get("pages", []):
        yield from _list_texts([page.get(name) for name in ("url", "final_url", "title", "publication")])
    for fact in change.get("facts", []):
        if fact.get("verified"):
            yield from _list_texts([fact.get(name) for name in ("quote", "title", "url", "heading")])


def _release_step(step: Step, privacy: Privacy, hide: Hide, is_made_by_model: bool) -> Step:
    """A step without what is private in it. `is_made_by_model`: that was shown a private text."""
    change, sentences = step.change, list[str]()
    noted = any(note["text"] in privacy.notes for note in change.get("notes", []))
    is_reading = step.n in privacy.reading_steps
    is_closed = is_made_by_model or is_reading or noted

    def may_leave(name: str, text: str, rule: str) -> bool:
        if not text or is_withheld(text) or text in privacy.kept:
            return True
        if text in privacy.notes or (rule == "file_words" and not privacy.kept) or privacy.gives_away(text):
            return False
        if rule == "readings" and is_reading:
            return name in READING_IDS
        if text in privacy.public:
            return True
        if rule == "supported" and name != "fact_ids":
            return not is_closed or privacy.stems.issuperset(content_stems(text))
        if privacy.repeats(text) or (name == "bot" and "earlier_private_notes" in change):
            return False
        if not is_closed or name in CODES_TEXTS or (rule == "confidence" and "answers" in change):
            return True
        if name in LABELS or (rule == "block" and name == "text"):
            return privacy.stems.issuperset(content_stems(text))
        return name != "text" and not any(map(str.isspace, text))

    def walk(name: str, value: Any, rule: str) -> Any:
        if isinstance(value, str):
            if may_leave(name, value, rule):
                return value
            sentences.extend([value] if (rule, name) in (("unsupported", "text"), ("history", "bot")) else [])
            return hide(value)
        if isinstance(value, dict):
            if value.keys() >= SENTENCE_FIELDS:
                rule = "supported" if value["check"] in SUPPORTED_VERDICTS else "unsupported"
            elif "row_labels" in value:
                rule = "block"
            return {inner: walk(inner, item, rule) for inner, item in value.items()}
        return [walk(name, item, rule) for item in value] if isinstance(value, list) else value

    for_all = ("question", "settings", "program", "request")  # what a person set for every reader
    change = {key: value if key in for_all else walk(key, value, key) for key, value in change.items()}
    if not is_closed:
        privacy.public.update(text for text in _list_texts(change) if not is_withheld(text))
    known = [" ".join(tokenize(text)[:MAX_PHRASE]) for text in sentences]
    privacy.sentences += [text for text in known if len(text) >= MIN_SENTENCE_CHARS]
    return step.replace(change=change)


def _list_texts(value: Any) -> list[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inner for text in _list_texts(item)]


def _join(text: str) -> str:
    return " ".join(tokenize(text))


@lru_cache(maxsize=1)
def list_vocabulary() -> frozenset[str]:
    """The values that fields of records are limited to; they tell nothing."""
    left, seen, found = list[Any]([Record]), set[Any](), set[str]()
    while left:
        at = left.pop()
        if isinstance(at, str):
            found.add(at)
        elif isinstance(at, type) and issubclass(at, StrEnum):
            found.update(at)
        elif isinstance(at, type) and issubclass(at, Record) and at not in seen:
            seen.add(at)
            left += [*at.__subclasses__(), *(known.annotation for known in at.model_fields.values())]
        else:
            left += get_args(at)
    return frozenset(found)


ERASED = "[erased]"


def list_private(view: RunSnapshot) -> list[Change]:
    """The private notes of a run as its steps hold them, undone ones too."""
    return [note for step in view.steps for note in step.change.get("notes", ()) if note.get("private")]


def erase_note(
    bench: ActionContext, run_id: str, step: Annotated[int, Field(description="the step of the note")]
) -> None:
    """Erase a private note for good, with what was made from it; backups made before still hold it. No run
    that could have held it may be at work."""
    view, store = bench.snapshot(run_id), bench.store
    texts = [note["text"] for note in list_private(view) if note["step"] == step]
    if texts[:1] == [ERASED]:  # the purge may have failed
        bench.store.purge()
        return
    if not texts or is_withheld(texts[0]):
        raise UsageError(f"step {step} of run {run_id} holds no private note that could be erased")
    family = store.ledger.family(run_id)
    if at_work := [one for one in family if store.ledger.get(one).status is Status.RUNNING]:
        raise UsageError(f"run {at_work[0]} is at work and may hold the note: pause it, then erase the note")
    private = find_private(view.steps, store.calls.list_for_run(run_id), texts)
    only = [*texts, *private.readings]
    store.draft(PURGE_DUE, run_id)
    said = (note for one in family for s in bench.snapshot(one).steps for note in s.change.get("notes", ()))
    kept = {ERASED} | {note["text"] for note in said} - set(only)
    for key, text in store.drafts.all().items():
        if any(one in key for one in family) and (private.gives_away(text) or key.startswith("salt:")):
            store.drafts.drop(key)
    for one in sorted(family, key=lambda name: name == run_id):  # the run last: repeated, it is found again
        before = store.calls.list_for_run(one)
        found, calls = release(bench, one, lambda _text: ERASED, only, kept)
        both = [pair for pair in zip(before, calls or before, strict=True) if pair[0] != pair[1]]
        store.calls.rewrite({old.key: new.replace(key=secrets.token_hex(32)) for old, new in both})
        known = bench.snapshot(one)
        if (found.steps, found.run.error) != (known.steps, known.run.error):
            store.ledger.rewrite(one, found.steps, found.run.error)
    bench.snapshots.forget(family)
    store.purge()
