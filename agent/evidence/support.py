"""How the sentences of an answer are supported, in plain words, for every surface."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from agent.evidence.citation_check import FLAG_REASON, PERSON_REASON
from agent.evidence.claim_check import describe_finding
from agent.text.plurals import format_count
from agent.types import Answer, Sentence
from agent.types.facts import FLAG_NOTE

NO_MODEL = "no model was asked"
OWN_KNOWLEDGE = "own knowledge"
NOT_SUPPORTED, NOT_CHECKED, DIFFERS = "not supported", "not checked", "differs"
MAX_SHOWN = 80
"""Characters of a sentence that a line about its check shows."""
COUNT_LABELS = {
    "quoted": "quoted",
    "computed": "computed",
    "judged_supported": "judged",
    "differs": DIFFERS,
    "not_supported": NOT_SUPPORTED,
    "not_checked": NOT_CHECKED,
}


@dataclass(frozen=True)
class Support:
    """How a sentence is supported: a label in one or two words ("" for a quoted sentence) and why; `absent`
    is what of it stands nowhere in its sources, `note` the difference that a judge of the writer's own model
    explained, `disputed` what another source says.

    `tone`: "bad" when the quotes do not support it, "warn" when nobody knows or something is absent or
    disputed, "note" for an explained difference alone."""

    label: str = ""
    detail: str = ""
    note: str = ""
    absent: str = ""
    disputed: str = ""

    @property
    def tone(self) -> Literal["", "note", "warn", "bad"]:
        """How loud its mark is; "" for none."""
        if self.label == NOT_SUPPORTED:
            return "bad"
        if self.label in (DIFFERS, NOT_CHECKED, OWN_KNOWLEDGE, FLAG_NOTE) or self.absent or self.disputed:
            return "warn"
        return "note" if self.note else ""

    @property
    def marks(self) -> list[tuple[str, str]]:
        """What must be seen beside it, each as the key of its words and what is put in: it is not supported,
        it differs, nobody checked it, its quote orders machines about, something is absent, another source
        disputes it."""
        key = {OWN_KNOWLEDGE: NOT_CHECKED, FLAG_NOTE: "order"}.get(self.label, self.label)
        is_seen = self.tone == "bad" or key in (DIFFERS, NOT_CHECKED, "order")
        found = [(key.replace(" ", "_"), "")] if is_seen else []
        found += [("absent", self.absent)] if self.absent and self.tone != "bad" else []
        return found + ([("disputed", "")] if self.disputed else [])

    @property
    def reason(self) -> str:
        """Why it has its label, without what another source says."""
        about = f"not in its sources: {self.absent}" if self.absent and self.tone != "bad" else ""
        return "; ".join(filter(None, (self.detail, about, self.note)))

    @property
    def text(self) -> str:
        """All of it in one line; "" for a quoted sentence."""
        about = [f"not in its sources: {self.absent}"] if self.absent and self.tone != "bad" else []
        about += [f"disputed: {self.disputed}"] if self.disputed else []
        head = f"{self.label}: {self.detail}" if self.label and self.detail else self.label
        return "; ".join(filter(None, [head, *about, self.note]))


def describe_mark(sentence: Sentence, words: Mapping[str, str]) -> str:
    """What must be seen beside a sentence, in the words of a report; "" when there is nothing."""
    marks = describe_support(sentence).marks
    return "; ".join(words[f"mark_{key}"].format(what=what) for key, what in marks)


def describe_support(sentence: Sentence) -> Support:
    """How one sentence is supported, and what another source says where an open conflict disputes it."""
    told = [describe_finding(one).rstrip(".") for one in sentence.findings if not one.is_absent]
    found = "; ".join(text[:1].lower() + text[1:] for text in told)
    absent = ", ".join(dict.fromkeys(one.claimed for one in sentence.findings if one.is_absent))
    support = Support(*_describe_check(sentence, found), absent=absent, disputed=sentence.disputed)
    return replace(support, note=found) if sentence.check == "judged_supported" else support


def _describe_check(sentence: Sentence, found: str) -> tuple[str, str]:
    """Label and detail of a check."""
    reason = sentence.check_reason.rstrip(".")
    match sentence.check:
        case "quoted":
            return (FLAG_NOTE, FLAG_REASON) if reason == FLAG_REASON else (reason, "")
        case "computed":
            return "computed", reason
        case "judged_supported":
            return "judged", f"by the model: {reason}".rstrip(": ")
        case "differs":
            return DIFFERS, found
        case "not_supported":
            return NOT_SUPPORTED, reason or found or ("" if sentence.fact_ids else "it cites nothing")
        case "not_checked" if sentence.check_reason == PERSON_REASON:
            return OWN_KNOWLEDGE, "no page says it"
        case "not_checked":
            return NOT_CHECKED, "; ".join(filter(None, (reason or NO_MODEL, found)))
    return ("", "") if sentence.backed else (NOT_SUPPORTED, "")


def label_support(sentence: Sentence) -> str:
    """The label beside a sentence, with what is absent or disputed; "" for a quoted one, and for a table's
    cell that nothing speaks against: the list of checks has it."""
    support = describe_support(sentence)
    if sentence.context and support.tone in ("", "note"):
        return ""
    about = [f"not in its sources: {support.absent}"] if support.absent and support.tone != "bad" else []
    return ", ".join(filter(None, [support.label, *about, "disputed" if support.disputed else ""]))


def list_checks(answer: Answer) -> list[str]:
    """A line for each sentence that is not simply quoted: its beginning, how it is supported, and why."""
    return [
        f"“{sentence.claim[:MAX_SHOWN].rstrip()}{'…' if len(sentence.claim) > MAX_SHOWN else ''}”: {text}"
        for sentence in answer.sentences
        if (text := describe_support(sentence).text)
    ]


def count_support(answer: Answer) -> str:
    """For example "5 of 7 supported: 3 quoted, 2 judged; 1 not supported, 1 not checked", and
    "8 of 8 quoted word for word" where all that is backed is quoted.

    Returns "" when there is no statement."""
    claims = [s for s in answer.sentences if s.check] or answer.sentences
    if not claims:
        return ""
    backed = [sentence for sentence in claims if sentence.backed]
    others = [sentence for sentence in claims if not sentence.backed]
    held = _list_counts(backed)
    is_quoted = {sentence.check for sentence in backed} == {"quoted"}
    held = "quoted word for word" if is_quoted else f"supported: {held}" if held else "supported"
    text = f"{len(backed)} of {len(claims)} {held}"
    text += f"; {_list_counts(others) or f'{len(others)} not supported'}" if others else ""
    dropped = answer.statements.dropped
    return text + (f"; {format_count(dropped, 'citation')} of unusable facts dropped" if dropped else "")


def _list_counts(sentences: list[Sentence]) -> str:
    """ "3 quoted, 2 judged"; "" where no check was recorded."""
    counts = Counter(COUNT_LABELS[sentence.check] for sentence in sentences if sentence.check)
    return ", ".join(
        f"{counts[label]} {label}" for label in dict.fromkeys(COUNT_LABELS.values()) if counts[label]
    )
