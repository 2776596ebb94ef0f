"""The tree of all errors of this package. A message says what happened and what to do next.

    TouchstoneError
    ├── Signal          StopRequested, BudgetSpent, ShutdownRequested, ModelDown, NotRecorded: the run
    │                   must pause or end; no error
    ├── UsageError      NotFound > CorruptRow, BundleError, ConcurrentChange, SignInRefused: nothing changed
    ├── StoreError      StoreTooNew, LeaseLost
    ├── ModelError      ModelUnavailable > PromptTooLong, OutOfBudget; ModelReplyError
    └── PromptError, FlowError: programming errors

A page that is gone or an engine that blocks is never raised: it is an `Outcome` in a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


MAX_FAULTS = 4


class TouchstoneError(Exception):
    """The root of the tree."""


class Signal(TouchstoneError):
    """The run must pause or end; nothing went wrong."""


class StopRequested(Signal):
    """A person asked the run to stop at once."""


class BudgetSpent(Signal):
    """A budget of the run is used up: `used` of `limit`. `cap`: an agent.types.Cap, "quota", "" (fixed)."""

    def __init__(self, message: str, *, cap: str = "", used: float = 0.0, limit: float = 0.0) -> None:
        super().__init__(message)
        self.cap, self.used, self.limit = cap, used, limit


class ShutdownRequested(Signal):
    """This process is ending; the run continues in the next one."""


class ModelDown(Signal):
    """A model call failed for good without which the run cannot go on: it rests and is tried again. The
    replies of `role` to `messages` are of no use then; no messages: there was none."""

    def __init__(self, message: str, *, role: str = "", messages: Sequence[dict[str, str]] = ()) -> None:
        super().__init__(message)
        self.role, self.messages = role, messages


class NotRecorded(Signal):
    """The recorded model of the demo has no reply for a run as it is; a person chooses how it goes on."""


class UsageError(TouchstoneError):
    """A person asked for something that is not possible; nothing was changed."""


class NotFound(UsageError):
    """There is no such run, page or world."""


class CorruptRow(NotFound):
    """A row of the store cannot be read; it is treated as missing."""


class BundleError(UsageError):
    """An evidence bundle is damaged, changed, or no bundle; the message says what does not match."""


class SignInRefused(UsageError):
    """Nobody is signed in here, or the sign-in does not hold any more."""


class ConcurrentChange(UsageError):
    """Someone else changed the run first; their change is kept."""


class StoreError(TouchstoneError):
    """The database cannot be used as it is."""


class StoreTooNew(StoreError):
    """The database was written by a newer version of Touchstone."""


class LeaseLost(StoreError):
    """Another worker holds this run; the work of this one is discarded."""


class ModelError(TouchstoneError):
    """A model call failed for good."""


class ModelUnavailable(ModelError):
    """The model gave no answer: refused, unreachable, over its limits or timed out."""


class PromptTooLong(ModelUnavailable):
    """Prompt and reply do not fit into what the model takes."""


class OutOfBudget(ModelUnavailable):
    """The budget that is reserved for the write-up is used up."""


class ModelReplyError(ModelError):
    """The model's reply has the wrong form, even after one repair."""


class PromptError(TouchstoneError):
    """A prompt file and its blanks do not match: a programming error."""


class FlowError(TouchstoneError):
    """A step led to a step that its flow has no edge to: a programming error."""


def describe_faults(wrong: ValidationError) -> str:
    """What is wrong with something from outside: the first faults, each with its place, without its value,
    which may be secret."""
    told = []
    for fault in wrong.errors(include_url=False, include_input=False)[:MAX_FAULTS]:
        is_unknown = fault["type"] == "extra_forbidden"
        message = "there is no such name" if is_unknown else fault["msg"].removeprefix("Value error, ")
        told.append(": ".join(filter(None, (".".join(map(str, fault["loc"])), message))))
    return "; ".join(told)
