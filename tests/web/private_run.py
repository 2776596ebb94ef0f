"""Runs with private notes of every kind and a model that repeats them wherever it writes, and a search for their
words in whatever leaves."""

from __future__ import annotations

import io
import logging
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.actions.export import export_run, list_formats, render_shared_run
from agent.settings import config
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.web.claim_judge import check_reply
from tests.web.folders import Told, write_world
from tests.web.researching_model import END, Script, crawl, find_fact_ids, together
from tests.web.scripted import ScriptedModel

QUESTION = "When was the Varn bridge opened, and who designed the Varn bridge?"
WIKI, ROAD, ARCHIVE, NEWS = (f"https://{name}.example/varn" for name in ("wiki", "road", "archive", "news"))
SAID = {
    WIKI: "The Varn bridge was opened on 3 May 1931.",
    ROAD: "The Varn bridge opened to traffic on 3 May 1931.",
    ARCHIVE: "The Varn bridge was designed by the engineer Tora Lind.",
    NEWS: "The Varn bridge is 212 metres long.",
}
NOTES = {
    "steer": "My informant Zyxanota sold the old drawings; look for them.",
    "send_back": "My source at the ministry Quibblor says the family sold it: tell who the architect was, leave out road.example.",
    "comment": "Wrenfold of the harbour office told me this is wrong.",
    "fork": "Tarnmoor wants the length of it.",
}
DERIVED = "Velmarqa"
"""A word of the model's own reading of a note, in no note."""
TRANSLATED = "Le commanditaire a trahi la famille."
"""What a model makes of each note it is shown: no word of it, and no quote supports it."""
COVERT = "commanditaire"
ARCHITECT = "Its architect was Tora Lind."
NODDED = "A takeover by the mandator is planned this winter."
"""A paraphrase that the judge lets pass; no page has its words."""
"""A sentence that its quotes support, with a word of a note that is no secret."""
CANARIES = (*(note for word in ("Zyxanota", "Quibblor", "Wrenfold", "Tarnmoor") for note in [word]), DERIVED)


class Repeater(Script):
    """A model that writes each private word it was shown, and the derived one, into every text of its replies."""

    def __call__(self, prompt: str) -> Any:
        reply = super().__call__(prompt)
        shown = [word for word in CANARIES if word in prompt]
        return self._repeat(reply, " ".join(shown)) if shown else reply

    def _repeat(self, value: Any, words: str, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: self._repeat(item, words, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self._repeat(item, words, name) for item in value]
        is_text = name in ("reasoning", "assessment", "understood", "reason", "question")
        return f"{value} ({words} {DERIVED})" if isinstance(value, str) and is_text and value else value

    def analyzer(self, prompt: str) -> dict[str, Any]:
        facts = []
        for quote in SAID.values():
            if quote in prompt.rpartition("Passage p1")[2]:
                passage = re.findall(r"\b(p\d+)\b", prompt[: prompt.rindex(quote)])[-1]
                part = "2" if "designed" in quote else "1"
                more = {"passage_id": passage, "subject": "Varn bridge", "part": part}
                facts.append({"statement": quote, "quote": quote, "attribute": f"m {quote[-9:]}", **more})
        told = {"assessment": "All of it was seen.", "confidence_score": 0.9, "answered_parts": ["1", "2"]}
        return {"facts": facts, **told}

    def report(self, prompt: str) -> dict[str, Any]:
        listed = prompt.partition("Facts that may be used")[2].partition("What was done")[0]
        lines = listed.splitlines()
        sentences = [
            {"text": quote, "fact_ids": [i]}
            for i in find_fact_ids(prompt)
            for quote in SAID.values()
            if any(line.startswith(f"{i} [") and quote in line for line in lines)
        ]
        sentences += [{"text": f"{word} said so.", "fact_ids": ["f1"]} for word in CANARIES if word in prompt]
        if not any(word in prompt for word in CANARIES):
            return {"blocks": [{"kind": "paragraph", "sentences": sentences}]}
        designed = [i for i in find_fact_ids(prompt) if any(f"{i} [" in at and "Lind" in at for at in lines)]
        sentences += [{"text": text, "fact_ids": ["f1"]} for text in (TRANSLATED, NODDED)]
        sentences += [{"text": ARCHITECT, "fact_ids": designed}]
        blocks = [{"kind": "heading", "text": f"Le {COVERT}"}, {"kind": "paragraph", "sentences": sentences}]
        shown = " ".join(word for word in CANARIES if word in prompt)
        said = {"open": f"What {shown} le {COVERT} sold.", "assumed": f"That {shown} le {COVERT} is right."}
        return {"blocks": blocks, **said}

    def section(self, prompt: str) -> dict[str, Any]:
        return self.report(prompt.replace("Its facts:", "Facts that may be used"))

    def check_claims(self, prompt: str) -> dict[str, Any]:
        return check_reply(prompt, "CheckClaimsReply", lambda said, _quotes: COVERT not in said)

    def revision(self, prompt: str) -> dict[str, Any]:
        return {
            "understood": f"leave out what {DERIVED} sold",
            "excluded_sites": ["road.example"] if "road.example" in prompt.rpartition("Notes by")[2] else [],
            "questions": [f"What did {DERIVED} of the bridge office sell?"],
            "searches": [f"Varn bridge {DERIVED} office"],
            "form": f"as {DERIVED} likes it",
            "needs_research": True,
        }


@dataclass
class PrivateRuns:
    """A workbench with a run that was steered, sent back and commented on in private, a fork and a further
    question of it, and what was asked of the world meanwhile."""

    bench: Workbench
    run: str
    fork: str
    further: str
    world: Told
    model: Repeater | None
    log: io.StringIO

    @property
    def runs(self) -> tuple[str, str, str]:
        return self.run, self.fork, self.further


@contextmanager
def private_runs(folder: Path, *, keyless: bool = False) -> Iterator[PrivateRuns]:
    """The runs, driven with a scripted model or by rules alone."""
    pages = [
        {"url": url, "title": f"Varn bridge {n}", "text": f"{said} No architect built the other one."}
        for n, (url, said) in enumerate(SAID.items())
    ]
    place = write_world(folder / "world", pages)
    own = {"TOUCHSTONE_DATA": str(folder / "data"), "OLLAMA_URL": "", "EMBEDDING_MODEL": "off"}
    bench = Workbench(config.read_config(own))
    world = Told(bench.worker.world(place))
    bench.worker.world = lambda name: world  # type: ignore[method-assign]
    parts = [
        {"question": part} for part in ("When was the Varn bridge opened?", "Who designed the Varn bridge?")
    ]
    first = together(crawl(WIKI), crawl(ARCHIVE), crawl(ROAD))
    model = None if keyless else Repeater(first, END, plan={"parts": parts})
    scripted = model and ScriptedModel(model.scripted)
    bench.worker.model_client = lambda name, fast="": (scripted, "")  # type: ignore[method-assign]
    chosen = {"model": "keyless"} if keyless else {}
    log = io.StringIO()
    handler, level = logging.StreamHandler(log), logging.getLogger().level
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.DEBUG)
    try:
        run = bench.start(QUESTION, Settings(world=place, threshold=0.99, max_steps=6, **chosen))
        bench.act(run, "steer", note=NOTES["steer"], private=True)
        _drive(bench, run)
        bench.act(run, "send_back", bench.snapshot(run).head, note=NOTES["send_back"], private=True)
        _drive(bench, run)
        bench.act(run, "comment", bench.snapshot(run).head, target="s1", text=NOTES["comment"], private=True)
        _drive(bench, run)
        fork = bench.act(run, "fork", step=bench.snapshot(run).head, note=NOTES["fork"], private=True)
        _drive(bench, fork)
        further = bench.follow_up(run, "How long is it?")
        _drive(bench, further)
        yield PrivateRuns(bench, run, fork, further, world, model, log)
    finally:
        logging.getLogger().removeHandler(handler)
        logging.getLogger().setLevel(level)
        bench.shutdown()


def _drive(bench: Workbench, run_id: str) -> None:
    status = bench.drive(run_id)
    assert status is Status.REVIEW, (status, bench.snapshot(run_id).run.error)


def list_ways_out(made: PrivateRuns) -> Iterator[tuple[str, bytes]]:
    """Each file and document that a run can leave in, by name."""
    for run_id in made.runs:
        flow = made.bench.snapshot(run_id).run.settings.flow
        for chosen in list_formats(flow):
            yield f"{chosen.name} of {run_id}", export_run(made.bench, run_id, chosen.name)
        yield f"the share of {run_id}", render_shared_run(made.bench, run_id).document.encode()
        yield f"--json of {run_id}", repr(made.bench.as_json(run_id)).encode()
    yield "the log", made.log.getvalue().encode()
    yield "requests", "\n".join(made.world.asked).encode()


def find_canaries(content: bytes, words: tuple[str, ...] = (*CANARIES, COVERT)) -> list[str]:
    """The private words in a file, in a zip file those of its files too."""
    found = [word for word in words if word.lower().encode() in content.lower()]
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            found += [
                word for name in archive.namelist() for word in find_canaries(archive.read(name), words)
            ]
    return list(dict.fromkeys(found))
