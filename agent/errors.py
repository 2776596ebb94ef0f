"""Every error this package raises, in one tree. A message says what happened and what to do next.

    TouchstoneError
    ├── Signal                  not an error: the run must rest or end
    │   ├── Stopped             a person asked it to stop at once
    │   ├── BudgetSpent         a cap of the run's settings is reached
    │   └── ShuttingDown        this process is ending; the run goes on in the next one
    ├── UsageError              a person asked for something that cannot be; nothing was changed
    │   ├── NotFound            there is no such run, page or world
    │   │   └── Unreadable      there is a row, but what stands in it is no run or batch
    │   ├── BundleError         an evidence bundle is not what it was when it was made
    │   └── Overtaken           someone else (another tab) answered first
    ├── StoreError              the database cannot be used as it is
    │   ├── StoreTooNew         it was written by a newer version
    │   └── LeaseLost           another worker holds this run; what was done here is thrown away
    ├── ModelError              a model call failed for good
    │   ├── ModelUnavailable    no answer: refused, unreachable, over its limits, timed out
    │   └── ReplyError          it answered, but not what was asked for, even after one repair
    ├── PromptError             a prompt file and its blanks do not fit (a programming error)
    └── FlowError               a step led to where its flow has no edge (a programming error)

What the web does (a page that is gone, an engine that blocks) is never raised: it is an `Outcome` in a
result."""


class TouchstoneError(Exception):
    """The root of the tree."""


class Signal(TouchstoneError):
    """The run must rest or end; nothing went wrong."""


class StopRequested(Signal):
    """A person asked the run to stop at once."""


class BudgetSpent(Signal):
    """A cap of the run's settings is reached; the message names it.

    `cap` is the budget (see agent.types.Cap), `used` and `limit` how much of how much; without one it is a
    limit that nobody can raise."""

    def __init__(self, message: str, *, cap: str = "", used: float = 0.0, limit: float = 0.0) -> None:
        super().__init__(message)
        self.cap, self.used, self.limit = cap, used, limit


class ShutdownRequested(Signal):
    """This process is ending; the run goes on when the next one starts."""


class UsageError(TouchstoneError):
    """A person asked for something that cannot be; nothing was changed."""


class NotFound(UsageError):
    """There is no such run, page or world."""


class CorruptRow(NotFound):
    """There is a row in the store, but it cannot be understood: as good as none, and no other suffers by
    it."""


class BundleError(UsageError):
    """An evidence bundle is damaged, was changed, or is none; the message says what does not fit."""


class ConcurrentChange(UsageError):
    """Someone else answered first; what they did stands."""


class StoreError(TouchstoneError):
    """The database cannot be used as it is."""


class StoreTooNew(StoreError):
    """The database was written by a newer version of Touchstone."""


class LeaseLost(StoreError):
    """Another worker holds this run; what was done here is thrown away."""


class ModelError(TouchstoneError):
    """A model call failed for good."""


class ModelUnavailable(ModelError):
    """The model gave no answer: refused, unreachable, over its limits or timed out."""


class ModelReplyError(ModelError):
    """The model answered, but not what was asked for, even after one repair."""


class PromptError(TouchstoneError):
    """A prompt file and its blanks do not fit together: a programming error."""


class FlowError(TouchstoneError):
    """A step led to where its flow has no edge: a programming error."""
