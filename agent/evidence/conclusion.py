"""What an answer comes to, for every surface: its verdict, the reason, and what a person can do next."""

from __future__ import annotations

from dataclasses import dataclass

from agent.text.sentences import format_sentence
from agent.types import Answer, Reason, Verdict

VERDICT_LABELS: dict[Verdict, str] = {
    "answered": "Answered",
    "partial": "Partly answered",
    "passages_found": "Best-matching passages",
    "no_evidence": "No evidence found",
    "checked": "Checked",
}
NEXT_ACTS: dict[Reason, str] = {
    "blocked": "Try again later, or give an address to read.",
    "budget": "Raise the budget to go on.",
    "not_covered": "Ask in other words, or give an address to read.",
    "unsupported": "Ask in other words, or give an address to read.",
}


@dataclass(frozen=True)
class Conclusion:
    """The verdict in words ("" where the reason says it), what is not answered, why, and what to do
    next; "" for nothing."""

    verdict: str
    open: str
    reason: str
    next_act: str = ""

    @property
    def text(self) -> str:
        """All of it in one line."""
        return " ".join(
            filter(None, (f"{self.verdict}." * bool(self.verdict), self.open, self.reason, self.next_act))
        )


def conclude(answer: Answer) -> Conclusion:
    """What an answer comes to."""
    reason, next_act = answer.certainty, NEXT_ACTS.get(answer.reason, "")
    match answer.verdict:
        case "answered" | "partial" if answer.conflicts:
            next_act = "Say which side holds, under Conflicts."
        case "partial" if answer.reason == "none":
            next_act = "Send it back with what to look for."
        case "passages_found" if answer.sentences:
            missing = format_sentence(answer.missing)
            told = ("No AI model has judged whether they answer your question.", missing, reason)
            reason = " ".join(filter(None, told))
            next_act = "Read them, or connect a model."
    is_partial = answer.verdict == "partial" and bool(answer.missing)
    left = f"Not answered: {format_sentence(answer.missing)}" if is_partial else ""
    tells_itself = not answer.sentences and bool(reason)
    return Conclusion("" if tells_itself else VERDICT_LABELS[answer.verdict], left, reason, next_act)
