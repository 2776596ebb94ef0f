"""What of a run may leave: the one place that decides it. Exports, bundles and shares read a run through it.

A private note leaves to nobody, nor does what was made from it. A step that records the note or its reading,
or that a model made whose prompt or reply held it, keeps what was known before and what its answer says; and
all later texts go that have a word only private notes have. The state is folded from the rest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any, get_args

from agent.actions.context import ActionContext
from agent.engine.snapshots import RunSnapshot
from agent.export.hiding import REDACTED, is_withheld
from agent.flows import FLOWS
from agent.text.private_words import MIN_EMBEDDED_FILE_CHARS, find_private_words
from agent.text.tokens import tokenize
from agent.types import ModelCall, Record, Step

Hide = Callable[[str], str]
ANSWER_KEYS = ("answers", "facts", "outline")
ANSWER_TEXTS = frozenset(
    "text title heads row_labels lines context claimed quoted statement quote quotes heading certainty "
    "journey why_stopped because remark check_reason disputed".split()
)
"""What an answer says, and what code says of it: withheld only for its words."""
READING_TEXTS = frozenset(
    "understood trouble form excluded_sites excluded_topics questions searches addresses "
    "not_understood".split()
)
PERSONS_KEYS = ("question", "settings")
"""What a person set for every reader."""
MIN_PHRASE, MAX_PHRASE = 3, 12
"""Words that a text has at least to be recognised as a whole, and how many of it are compared."""


@dataclass
class Privacy:
    """The private texts of a run, and what tells that another text holds one."""

    texts: list[str] = field(default_factory=list)
    derived: list[str] = field(default_factory=list)
    """What they were understood as."""
    words: list[str] = field(default_factory=list)
    """Their words that no public text of the run has."""
    phrases: list[str] = field(default_factory=list)
    """How both begin."""
    known: set[str] = field(default_factory=set)
    """Texts that were recorded without them."""
    readings: set[int] = field(default_factory=set)
    """The steps that record what they were understood as."""
    spared: Collection[str] = ()
    """Texts that stay, whatever they tell."""
    first: int = -1
    """The first step that holds one; -1 for none."""

    def is_told(self, text: str) -> bool:
        """Whether a text gives one away."""
        if is_withheld(text) or text in list_vocabulary():
            return False
        if find_private_words(text, self.words, (), least=MIN_EMBEDDED_FILE_CHARS):
            return True
        joined = _join(text) if self.phrases else ""
        return any(phrase in joined for phrase in self.phrases)


def release(
    bench: ActionContext,
    run_id: str,
    hide: Hide = lambda _text: REDACTED,
    only: Sequence[str] = (),
    spared: Collection[str] = (),
) -> tuple[RunSnapshot, list[ModelCall]]:
    """The run and its model calls as they may leave, with what `hide` gives in place of each text that may
    not; no calls where the run holds nothing private. `only`: of all private texts withhold just these, and
    keep the `spared` ones."""
    view = bench.snapshot(run_id)
    if not (view.state.notes or view.state.earlier_private_notes or view.state.file_words):
        return view, []
    calls = bench.store.calls.list_for_run(run_id)
    privacy = find_private(view.steps, calls, only, spared)
    if privacy.first < 0:
        return view, []
    told = {call.key for call in calls if any(map(privacy.is_told, _list_call_texts(call)))}
    asked = [call.step for call in calls if call.key in told]
    made_with = {next((s.n for s in view.steps if s.n >= n and s.by != "person"), n) for n in asked}
    steps = [
        _release_step(step, privacy, hide, step.n in made_with) if step.n >= privacy.first else step
        for step in view.steps
    ]
    run = view.run.replace(error=hide(view.run.error)) if privacy.is_told(view.run.error) else view.run
    state = FLOWS[run.settings.flow].fold_steps(steps)
    kept = [_release_call(call, hide) if call.key in told else call for call in calls]
    return replace(view, run=run, steps=steps, state=state), kept


def find_private(
    steps: Sequence[Step], calls: Sequence[ModelCall], only: Sequence[str] = (), spared: Collection[str] = ()
) -> Privacy:
    """The private notes of a run and of the earlier turns that it remembers, and the words that only they, or
    what a model understood them as, have: no page, no public act of a person and no prompt's instruction."""
    found, heard = Privacy(spared=spared), list[int]()
    public = list({m["content"] for call in calls for m in call.prompt if m["role"] == "system"})
    for step in steps:
        notes, earlier = step.change.get("notes", []), step.change.get("earlier_private_notes", [])
        own = [note for note in notes if note.get("private") and _is_meant(note["text"], only)]
        said = [text for text in earlier if _is_meant(text, only)]
        found.texts += [*(note["text"] for note in own), *said]
        heard += [*(note["step"] for note in own), *([-1] if said else [])]
        for reading in step.change.get("readings", []):
            if any(n <= reading["note"] for n in heard):
                found.readings.add(step.n)
                made = _list_texts([reading.get(name) for name in sorted(READING_TEXTS)])
                found.derived += [text for text in made if text and not is_withheld(text)]
                heard = []
        if found.first < 0 and (found.texts or (not only and step.change.get("file_words"))):
            found.first = step.n
        public += _list_texts(step.change) if found.first < 0 else _list_public_texts(step.change)
    private = [*found.texts, *found.derived]
    if not private:
        return found
    found.words = find_private_words(" ".join(private), private, public)
    shown = [_join(text) for text in public]
    phrases = [tokenize(text)[:MAX_PHRASE] for text in private]
    joined = [" ".join(phrase) for phrase in phrases if len(phrase) >= MIN_PHRASE]
    found.phrases = [phrase for phrase in joined if not any(phrase in text for text in shown)]
    found.known = set(public)
    return found


def _is_meant(text: str, only: Sequence[str]) -> bool:
    return not is_withheld(text) and (not only or text in only)


def _list_public_texts(change: dict[str, Any]) -> Iterator[str]:
    """What pages, results and a person's public acts put into a step."""
    yield from _list_texts([change.get("question", ""), change.get("asked", ""), change.get("settings", {})])
    yield from (turn["user"] for turn in change.get("history", []))
    yield from (note["text"] for note in change.get("notes", []) if not note.get("private"))
    yield from (p["question"] for p in change.get("plan_parts", []) if p.get("by") == "person")
    yield from _list_texts([item.get("hits", []) for item in change.get("brought", [])])
    for page in change.get("pages", []):
        yield from _list_texts([page.get(name) for name in ("url", "final_url", "title", "publication")])
    for fact in change.get("facts", []):
        if fact.get("verified"):
            yield from _list_texts([fact.get(name) for name in ("quote", "title", "url", "heading")])


def _release_step(step: Step, privacy: Privacy, hide: Hide, is_made_with: bool) -> Step:
    """A step without what is private in it."""
    is_reading = step.n in privacy.readings
    noted = any(note["text"] in privacy.texts for note in step.change.get("notes", []))
    is_made_with |= is_reading or noted

    def keep(key: str, name: str, text: str) -> bool:
        if not text or text in privacy.texts or (key == "file_words" and not privacy.spared):
            return not text
        if text in privacy.spared:
            return True
        if privacy.is_told(text) or (is_reading and key == "readings" and name in READING_TEXTS):
            return is_withheld(text)
        if not is_made_with or not any(map(str.isspace, text)) or text in privacy.known:
            return True
        is_reason = key == "confidence" and "answers" in step.change
        return is_reason or (key in ANSWER_KEYS and name in ANSWER_TEXTS)

    def walk(key: str, name: str, value: Any) -> Any:
        if isinstance(value, str):
            return value if keep(key, name, value) else hide(value)
        if isinstance(value, dict):
            return {inner: walk(key, inner, item) for inner, item in value.items()}
        return [walk(key, name, item) for item in value] if isinstance(value, list) else value

    change = {
        key: value if key in PERSONS_KEYS else walk(key, key, value) for key, value in step.change.items()
    }
    if not is_made_with:
        privacy.known.update(text for text in _list_texts(change) if not is_withheld(text))
    return step.replace(change=change)


def _release_call(call: ModelCall, hide: Hide) -> ModelCall:
    """A call that holds a private text without its prompt and reply, and without the key, a hash of the
    prompt."""
    prompt = [m if m["role"] == "system" else {**m, "content": hide(m["content"])} for m in call.prompt]
    key = hashlib.sha256(hide(call.key).encode()).hexdigest()
    reply, error = (text and hide(text) for text in (call.reply, call.error))
    return call.replace(key=key, prompt=prompt, reply=reply, error=error)


def _list_call_texts(call: ModelCall) -> list[str]:
    """What a call holds beside the instructions of its role."""
    return [*(m["content"] for m in call.prompt if m["role"] != "system"), call.reply, call.error]


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
