"""A model that plays the roles of `chat`, a small library for it to talk about, and a short way to drive a
turn.

    Script(router="RETRIEVE", grade=[0.9, 0.9, 0.1], open=["When it opens is left open.", ""])

A part is what the role says each time, or a list of what it says one time after the other (the last goes on);
an exception is raised, text and dicts are sent as they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel

from agent.flows.chat.state import ChatRun
from agent.llm.detect import DetectedModel
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.web.claim_judge import ALWAYS, Judging, check_reply
from tests.web.scripted import ScriptedModel
from tests.web.stock import made_once

FERRY = """# The Brannvik ferry

The Brannvik ferry crosses the sound to Skarholm in 25 minutes.

## Timetable

The first ferry leaves Brannvik at 6:40 in the morning, and the last ferry leaves Brannvik at 22:10.

## Tickets

A ticket for the Brannvik ferry costs 38 kronor. Children under seven ride the Brannvik ferry without a ticket.

## The ship

The Brannvik ferry is called Skarven. It was built by Olga Lindmark in 1987 and carries 24 cars.
"""
LIGHT = (
    "# Skarholm lighthouse\n\nThe lighthouse on Skarholm was lit in 1871. The lighthouse is 31 metres high.\n"
)
PLACES = """name,kind,address,latitude,longitude,hours
Norra Clinic,clinic,"Storgatan 1, Brannvik",60.0000,20.0000,Mon-Fri
Sound Clinic,clinic,"Hamngatan 3, Skarholm",60.0900,20.0000,Tue
Far Clinic,clinic,"Storgatan 8, Uddby",60.5000,20.0000,Wed
Anchor Pharmacy,pharmacy,"Storgatan 2, Brannvik",60.0010,20.0010,daily
Gull Pharmacy,pharmacy,"Hamngatan 5, Skarholm",60.0910,20.0010,daily
"""
KIOSK = "The harbour kiosk {n} sells passes for the crossing at 38 kronor."
QUOTE = "A ticket for the Brannvik ferry costs 38 kronor."
TICKET = ("A ticket costs 38 kronor.", QUOTE)
ASKED = "What does a ticket for the Brannvik ferry cost?"
ROLES = {
    "RouterReply": "router",
    "RewriteReply": "rewrite",
    "GradeReply": "grade",
    "GenerateReply": "generate",
    "ReadSectionReply": "read_section",
    "ClarifyReply": "clarify",
    "LocationReply": "location",
    "CheckClaimsReply": "check_claims",
    "RepairReply": "repair",
}
Part = Any


@made_once
def stocked(bench: Workbench, *, places: bool = True) -> None:
    """Two documents and, if wanted, a table of facilities in the bench's library."""
    bench.library.add_file("ferry.md", FERRY.encode(), tags=["ferry"])
    bench.library.add_file("light.md", LIGHT.encode(), tags=["light"])
    if places:
        bench.library.add_file("places.csv", PLACES.encode(), tags=["places"])


def stock_kiosks(bench: Workbench) -> None:
    """Three documents that a search for "harbour kiosk" finds, and one for the ferry does not."""
    for n in range(3):
        bench.library.add_file(f"kiosk{n}.md", f"# Kiosk {n}\n\n{KIOSK.format(n=n)}\n".encode())


class Script:
    """The double's mind. `prompts` keeps (role, prompt) of every call."""

    def __init__(self, **parts: Part) -> None:
        usual = {
            "router": "RETRIEVE",
            "rewrite": "ferry ticket",
            "grade": 0.9,
            "generate": [[TICKET]],
            "open": "",
            "read_section": [],
            "clarify": "Which one?",
            "location": {"kind": "clinic", "near": "Brannvik"},
            "check_claims": ALWAYS,
            "repair": {"sentences": []},
        }
        self.parts: dict[str, list[Any]] = {
            name: part if isinstance(part, list) else [part] for name, part in {**usual, **parts}.items()
        }
        self.prompts: list[tuple[str, str]] = []

    def __call__(self, messages: list[dict[str, Any]], shape: type[BaseModel]) -> Any:
        role, prompt = ROLES[shape.__name__], "\n".join(str(message["content"]) for message in messages)
        self.prompts.append((role, prompt))
        queue = self.parts[role]
        said = queue.pop(0) if len(queue) > 1 else queue[0]
        return (
            said
            if isinstance(said, Exception | dict) or said in ("", "not JSON")
            else getattr(self, f"_{role}")(said, prompt)
        )

    @property
    def roles(self) -> list[str]:
        """Which roles were asked, in order."""
        return [role for role, _ in self.prompts]

    def of(self, role: str) -> list[str]:
        """A role's prompts."""
        return [prompt for name, prompt in self.prompts if name == role]

    def _router(self, said: str, _prompt: str) -> Any:
        if said == "small talk":
            said_back = {"message": "You are welcome, see https://evil.test/x."}
            return {"route": "DIRECT_ANSWER", "reasoning": "chat", "asks_nothing": True, **said_back}
        return {
            "document": 1,
            "route": said,
            "reasoning": "so it is",
            "confidence": 0.9,
            "clarifying_question": "Which ferry?" if said.startswith("ASK") else "",
        }

    def _rewrite(self, said: str, _prompt: str) -> Any:
        return {"query": said, "reasoning": "other words"}

    def _grade(self, said: float | Sequence[float] | Callable[[str], Any], prompt: str) -> Any:
        if callable(said):
            return said(prompt)
        ids = passage_ids(prompt)
        scores = [said] * len(ids) if isinstance(said, float) else [*said, *[0.0] * len(ids)]
        return {
            "grades": [
                {"passage_id": name, "score": score, "reason": "because"}
                for name, score in zip(ids, scores, strict=False)
            ]
        }

    def _generate(self, said: Sequence[tuple[str, str]], prompt: str) -> Any:
        answer = [
            {"text": text, "quotes": [{"passage_id": place(prompt, quote), "quote": quote}]}
            for text, quote in said
        ]
        queue = self.parts["open"]
        left_open = queue.pop(0) if len(queue) > 1 else queue[0]
        return {"answer": answer, "open": left_open, "confidence": 0.9 if answer else 0.1}

    def _read_section(self, said: Sequence[tuple[str, str]], prompt: str) -> Any:
        told = [one for one in said if one[1] in prompt]
        return {
            "answer": [
                {"text": text, "quotes": [{"passage_id": place(prompt, quote), "quote": quote}]}
                for text, quote in told
            ]
        }

    def _check_claims(self, said: Judging, prompt: str) -> Any:
        return check_reply(prompt, "CheckClaimsReply", said)

    def _clarify(self, said: str, _prompt: str) -> Any:
        return {"question": said, "choices": ["the ferry", "the lighthouse"]}


def passage_ids(prompt: str) -> list[str]:
    """The ids of the passages of a prompt, in order."""
    return re.findall(r"^Passage (\S+)(?: \(table rows\))?:$", prompt, flags=re.MULTILINE)


def place(prompt: str, quote: str) -> str:
    """The passage of a prompt that holds a quote; one that there is not for any other."""
    found = re.findall(
        r"^Passage (\S+):\n<(passage-\w+)>\n(.*?)\n</\2>", prompt, flags=re.MULTILINE | re.DOTALL
    )
    return next((name for name, _, text in found if quote in text), "nowhere")


def given(bench: Workbench, script: Script | None) -> None:
    """Let a script be the bench's model from now on."""
    bench.worker.model_search.found = DetectedModel(ScriptedModel(script), "") if script else None  # type: ignore[arg-type]


class Turned:
    """A turn as it rests: its state and its way (the steps after the question, and where it stands)."""

    def __init__(self, bench: Workbench, run_id: str) -> None:
        self.view = bench.snapshot(run_id)
        self.id, self.status = run_id, self.view.run.status
        assert self.status is not Status.FAILED, self.view.run.error
        self.state: ChatRun = self.view.state  # type: ignore[assignment]
        self.path = [step.name for step in self.view.steps[1:]] + [self.view.next]
        self.way = " ".join(self.path)

    @property
    def text(self) -> str:
        """What the person was told last."""
        return self.seed["final_answer"] or ""

    @property
    def seed(self) -> dict[str, Any]:
        """The turn by the seed's field names."""
        return dict(self.state.own.export_extra(self.state)["chat"])


class Talk:
    """A conversation with a workbench: each `say` is a turn of it, or the answer to what was asked back."""

    def __init__(
        self, bench: Workbench, *, script: Script | None = None, thread: str = "", **settings: Any
    ) -> None:
        self.bench, self.id = bench, thread
        given(bench, script)
        self.settings = Settings(**{"flow": "chat", "model": "auto" if script else "keyless", **settings})

    def say(self, text: str) -> Turned:
        """Say something and drive the run until it rests."""
        self.id = (
            self.bench.send_chat_message(self.id, text, self.settings)
            if self.id
            else self.bench.start(text, self.settings)
        )
        self.bench.drive(self.id)
        return Turned(self.bench, self.id)
