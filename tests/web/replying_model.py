"""A model that plays the roles of `reply`, and a small knowledge base for it to answer from.

    Script(select=["kb:backups.md"], write=[("Backups run at night.", "Backups run at night.")])

Each part is what the role should say, or a function of the prompt's text; a part that is an exception is
raised."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from agent.types import Outcome, Page
from agent.workbench import Workbench
from tests.web.chatting_model import place
from tests.web.claim_judge import ALWAYS, Judging, check_reply
from tests.web.stock import made_once

BACKUPS = "# Backups\n\nBackups run at night, at half past two. They are kept for 90 days. A backup can be brought back with `fyr bring DAY`.\n"
PORTS = "# Ports\n\nThe status page answers on port 7410. The door for alerts is port 7411.\n"
HOURS = "Office hours\n\nThe office is open from nine to four on weekdays. On Fridays it closes at noon.\n"
WEB = "https://docs.fyrvakt.example/certificates"
WEB_TEXT = (
    "Certificates\n\nA certificate is renewed 30 days before it ends. Renewing takes about ten seconds."
)
Part = Any


@made_once
def stocked(bench: Workbench) -> None:
    """Three files, a topic of the team and a page of the web in the bench's library."""
    bench.library.add_file("backups.md", BACKUPS.encode())
    bench.library.add_file("ports.md", PORTS.encode())
    topic = Page(
        url="file:team/hours.txt",
        final_url="file:team/hours.txt",
        outcome=Outcome.OK,
        title="Office hours",
        text=HOURS,
        sha256="a" * 64,
    )
    bench.library.add_page(topic, source_id="team:hours.txt", kind="topic")
    page = Page(
        url=WEB, final_url=WEB, outcome=Outcome.OK, title="Certificates", text=WEB_TEXT, sha256="b" * 64
    )
    bench.library.add_page(page)
    bench.library.tag(f"kb:{WEB}", "demo", away=True)


class Script:
    """The double's mind. `prompts` keeps (role, system, user) of every call."""

    def __init__(
        self,
        *,
        gate: Part = True,
        select: Part = ("kb:backups.md",),
        write: Part = (),
        verify: Part = True,
        judge: Judging = ALWAYS,
        check_claims: Part = (),
        repair: Part = (),
    ) -> None:
        self.parts = {
            "gate": gate,
            "selection": select,
            "writing": write,
            "verification": verify,
            "check_claims": check_claims,
            "repair": repair,
        }
        self.judge = judge
        self.prompts: list[tuple[str, str, str]] = []
        self._lock = threading.Lock()

    def __call__(self, messages: list[dict[str, Any]], shape: type[BaseModel]) -> Any:
        role = {
            "GateReply": "gate",
            "SelectionReply": "selection",
            "WritingReply": "writing",
            "VerificationReply": "verification",
            "CheckClaimsReply": "check_claims",
            "RepairReply": "repair",
        }[shape.__name__]
        user = messages[1]["content"]
        text = user if isinstance(user, str) else "".join(part.get("text", "") for part in user)
        with self._lock:
            self.prompts.append((role, str(messages[0]["content"]), text))
        part = self.parts[role]
        said = part(text) if isinstance(part, Callable) else part  # type: ignore[arg-type]
        return said if isinstance(said, Exception | str | dict) else getattr(self, f"_{role}")(said, text)

    @property
    def roles(self) -> list[str]:
        """Which roles were asked, in order."""
        return [name for name, _, _ in self.prompts]

    def of(self, role: str) -> list[str]:
        """The user parts of a role's prompts."""
        return [user for name, _, user in self.prompts if name == role]

    def _gate(self, said: bool, _prompt: str) -> Any:
        return {"should_reply": said, "reasoning": "because"}

    def _selection(self, said: Any, _prompt: str) -> Any:
        return {"selected_source_ids": list(said), "reasoning": "it fits"}

    def _writing(self, said: Any, prompt: str) -> Any:
        sentences = [
            {
                "text": text,
                "quotes": [{"passage_id": place(prompt, quote), "quote": quote}]
                if isinstance(quote, str)
                else [],
                "pictures": [quote] if isinstance(quote, int) else [],
            }
            for text, quote in said
        ]
        return {"answer": sentences, "open": "" if sentences else "They do not say.", "confidence": 0.9}

    def _check_claims(self, _said: Any, prompt: str) -> Any:
        return check_reply(prompt, "CheckClaimsReply", self.judge)

    def _repair(self, said: Any, prompt: str) -> Any:
        return check_reply(prompt, "RepairReply", repairs=dict(said))

    def _verification(self, said: bool, _prompt: str) -> Any:
        return {"verification": said, "reasoning": "it is fine" if said else "it is rude"}
