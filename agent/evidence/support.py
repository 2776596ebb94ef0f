"""How the sentences of an answer are supported, in plain words, for every surface."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agent.evidence.citation_check import FLAG_REASON, PERSON_REASON
from agent.evidence.claim_check import describe_finding
from agent.types import Answer, Sentence
from agent.types.facts import FLAG_NOTE

NO_MODEL = "no model was asked"
OWN_KNOWLEDGE = "own knowledge"
MAX_SHOWN = 80
"""Characters of a sentence that a line about its check shows."""
COUNT_LABELS = {
    "quoted": "quoted",
    "computed": "computed",
    "judged_supported": "judged",
    "vetoed": "not supported",
    "doubted": "not supported",
    "not_supported": "not supported",
    "not_checked": "not checked",
}


@dataclass(frozen=True)
class Support:
    """A label in one or two words ("" for a quoted sentence), why, and the doubt that code has beside a
    judge's word. `tone`: "bad" when the quotes do not support it, "warn" when nobody knows or code doubts."""

    label: str = ""
    detail: str = ""
    doubt: str = ""
    tone: Literal["", "warn", "bad"] = ""

    @property
    def text(self) -> str:
        """All of it in one line; "" for a quoted sentence."""
        detail = f"{self.label}: {self.detail}" if self.label and self.detail else self.label
        return f"{detail}; but {self.doubt}" if self.doubt else detail


def describe_mark(sentence: Sentence, words: Mapping[str, str]) -> str:
    """In a word that a sentence is not supported, disputed or in doubt; "" when it is none of these."""
    support = describe_support(sentence)
    mark = words.get(f"mark_{support.label.replace(' ', '_')}", support.label)
    return words["mark_disputed"] if sentence.disputed else mark if support.tone else ""


def describe_support(sentence: Sentence) -> Support:
    """How one sentence is supported, and what another source says where an open conflict disputes it."""
    support = _describe_check(sentence)
    if not sentence.disputed:
        return support
    label = f"disputed, {support.label}" if support.label else "disputed"
    doubt = "; ".join(filter(None, (sentence.disputed, support.doubt)))
    return Support(label, support.detail, doubt, support.tone or "warn")


def _describe_check(sentence: Sentence) -> Support:
    told = [describe_finding(finding).rstrip(".") for finding in sentence.findings]
    found = "; ".join(text[:1].lower() + text[1:] for text in told)
    reason = sentence.check_reason.rstrip(".")
    match sentence.check:
        case "quoted" if reason == FLAG_REASON:
            return Support(FLAG_NOTE, FLAG_REASON, tone="warn")
        case "quoted":
            return Support(reason)
        case "computed":
            return Support("computed", reason)
        case "judged_supported":
            return Support("judged", f"by the model: {reason}".rstrip(": "), found, "warn" if found else "")
        case "vetoed":
            return Support("vetoed", found or reason, tone="bad")
        case "doubted" | "not_supported":
            cites_nothing = "" if sentence.fact_ids else "it cites nothing"
            return Support(
                "not supported", "; ".join(filter(None, (reason or cites_nothing, found))), tone="bad"
            )
        case "not_checked" if sentence.check_reason == PERSON_REASON:
            return Support(OWN_KNOWLEDGE, "no page says it", tone="warn")
        case "not_checked":
            return Support("not checked", reason or NO_MODEL, tone="warn")
    return Support() if sentence.backed else Support("not supported", tone="bad")


def label_support(sentence: Sentence) -> str:
    """The mark beside a sentence: "judged, in doubt"; "" for a quoted one, and for a table's cell that
    nothing speaks against: the list of checks has it."""
    support = describe_support(sentence)
    if sentence.context and not support.tone:
        return ""
    return f"{support.label}, in doubt" if support.doubt and not sentence.disputed else support.label


def list_checks(answer: Answer) -> list[str]:
    """A line for each sentence that is not simply quoted: its beginning, how it is supported, and why."""
    return [
        f"“{sentence.claim[:MAX_SHOWN].rstrip()}{'…' if len(sentence.claim) > MAX_SHOWN else ''}”: {text}"
        for sentence in answer.sentences
        if (text := describe_support(sentence).text)
    ]


def count_support(answer: Answer) -> str:
    """For example "5 of 7 supported: 3 quoted, 2 judged (1 in doubt); 1 not supported, 1 not checked", and
    "8 of 8 quoted word for word" where all that is backed is quoted.

    Returns "" when there is no statement."""
    claims = [s for s in answer.sentences if s.check] or answer.sentences
    if not claims:
        return ""
    backed = [sentence for sentence in claims if sentence.backed]
    others = [sentence for sentence in claims if not sentence.backed]
    in_doubt = sum(sentence.check == "judged_supported" and bool(sentence.findings) for sentence in backed)
    held = _list_counts(backed).replace("judged", f"judged ({in_doubt} in doubt)" if in_doubt else "judged")
    is_quoted = {sentence.check for sentence in backed} == {"quoted"}
    held = "quoted word for word" if is_quoted else f"supported: {held}" if held else "supported"
    text = f"{len(backed)} of {len(claims)} {held}"
    text += f"; {_list_counts(others) or f'{len(others)} not supported'}" if others else ""
    dropped = answer.statements.dropped
    return text + (f"; {dropped} citations of unusable facts were dropped" if dropped else "")


def _list_counts(sentences: list[Sentence]) -> str:
    """ "3 quoted, 2 judged"; "" where no check was recorded."""
    counts = Counter(COUNT_LABELS[sentence.check] for sentence in sentences if sentence.check)
    return ", ".join(
        f"{counts[label]} {label}" for label in dict.fromkeys(COUNT_LABELS.values()) if counts[label]
    )
