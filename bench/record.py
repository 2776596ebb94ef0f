"""Records the replies that answer the examples of the demo (demo/examples.json), and checks them.

    python -m bench.record --base-url http://127.0.0.1:8099/v1 [--only WORDS ...] [--renew] [--jobs 4]
    python -m bench.record --check

Any OpenAI-compatible server will do. It is asked for what demo/replies.jsonl does not hold, with `--renew`
for everything; `--only` takes the examples whose flow or question holds one of these words. `--check` asks
nobody: it tells what each example comes to by its recorded replies, and what is missing; exit code 1 when
anything is."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from agent import api
from agent.actions.acts import fill_act
from agent.bot.responder import ReplyService
from agent.engine.snapshots import RunSnapshot
from agent.llm.client import ModelClient
from agent.llm.model import Completion, CompletionRequest, Tier
from agent.llm.recorded import REPLIES, RecordedModel, list_examples, make_key
from agent.settings import config as configuration
from agent.settings.reply_config import DEMO_KB, AIResponseSettings, ResponseConfig
from agent.types import Settings, Status
from agent.types.library import LibraryScope
from agent.types.reply import Conversation
from agent.workbench import Workbench

Example = dict[str, Any]
Row = dict[str, Any]
DEMO = DEMO_KB.parent
MAX_CUE = 100
MAX_REPLY_S = 3600
_file_lock = threading.Lock()


@dataclass
class Played:
    """What an example came to: a snapshot after its start and after each act, and the prompts without a
    recorded reply."""

    views: list[RunSnapshot] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def find_faults(self, example: Example) -> list[str]:
        """What is not as the example says, a sentence each."""
        wanted = [example, *example.get("next", [])]
        faults = [f"no recorded reply for {name}" for name in self.missing]
        for n, view in enumerate(self.views):
            verdict = find_verdict(view)
            if wanted[n].get("verdict", verdict) != verdict:
                faults.append(f"{verdict or view.run.status} in the place of {wanted[n]['verdict']}")
        return faults + ["it ended early"] * (len(self.views) < len(wanted))


def find_verdict(view: RunSnapshot) -> str:
    """The verdict of the newest answer; "" where there is none, and where a reply was not made."""
    answer = view.state.answer
    if view.run.settings.flow == "reply" and not view.state.own.should_reply:
        return ""
    return answer.verdict if answer else ""


class RecordingModel:
    """The recorded replies, and those of a server in the place of what is missing; keeps all that were
    used."""

    local, server = True, ""

    def __init__(self, client: ModelClient, known: dict[str, Row], example: Example) -> None:
        self.strong, self.fast, self._client = client.strong, client.fast, client
        self._known, self._example = known, example
        self.used: dict[str, Row] = {}

    def complete(self, request: CompletionRequest) -> Completion:
        """A reply, recorded or new."""
        key = make_key(request)
        row = self.used.get(key) or self._known.get(key)
        if row is None:
            said = self._client.complete(request)
            text = said.text.strip().removeprefix("```json").removesuffix("```")
            cue = " ".join(request.filling().replace("¶", " ").split())[-MAX_CUE:]
            of = f"{self._example['flow']}: {self._example['question']}"
            row = {"of": of, "role": request.role, "key": key, "cue": cue, "reply": json.loads(text)}
        self.used[key] = row
        text = json.dumps(row["reply"], ensure_ascii=False)
        return Completion(text, 1, 1, 0.0, self.strong)

    def context_length(self, tier: Tier) -> int:
        """As that of the recorded model: no prompt is shortened."""
        return RecordedModel().context_length(tier)


def main() -> None:
    """Record or check what the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base-url", help="the server's address, up to /v1")
    parser.add_argument("--model", default="bridge")
    parser.add_argument("--only", nargs="*", default=[], help="words of a flow or question")
    parser.add_argument("--renew", action="store_true", help="ask for what is recorded, too")
    parser.add_argument("--check", action="store_true", help="replay all; ask nobody")
    parser.add_argument("--jobs", type=int, default=4, help="examples that are recorded side by side")
    asked = parser.parse_args()
    if not asked.check and not asked.base_url:
        parser.error("give --base-url, the address of an OpenAI-compatible server, or --check")
    names = {id(one): f"{one['flow']}: {one['question']}" for one in list_examples()}
    chosen = [
        one for one in list_examples() if not asked.only or any(w in names[id(one)] for w in asked.only)
    ]
    if asked.check:  # one after the other on one store: what is in the library already may change nothing
        with tempfile.TemporaryDirectory() as folder:
            found = [(one, replay(one, Path(folder))) for one in chosen]
    else:
        with ThreadPoolExecutor(asked.jobs) as pool:
            record_one = partial(record, base_url=asked.base_url, model=asked.model, renew=asked.renew)
            found = list(zip(chosen, pool.map(record_one, chosen), strict=True))
    for example, played in found:
        print(f"== {names[id(example)]}\n{describe(played)}", *played.find_faults(example), sep="\n")
    sys.exit(any(played.find_faults(example) for example, played in found))


def describe(played: Played) -> str:
    """What each turn came to, a line for each sentence with its check."""
    lines = []
    for view in played.views:
        answer = view.state.answer
        lines.append(f"{view.run.status}, {find_verdict(view) or 'no answer'} {view.run.error}".rstrip())
        lines += [f"  [{said.check or '-'}] {said.text}" for said in (answer.sentences if answer else [])]
    return "\n".join(lines)


def replay(example: Example, data: Path | None = None) -> Played:
    """Play an example as the demo does when no model is set up; on an empty store, or on one in `data`."""
    played, complete = Played(), RecordedModel.complete

    def watch(model: RecordedModel, request: CompletionRequest) -> Completion:
        try:
            return complete(model, request)
        except Exception:
            played.missing.append(f"{request.role}: …{request.filling()[-MAX_CUE:]}")
            raise

    with _open_bench({}, data) as bench, patch.object(RecordedModel, "complete", watch):
        _play(bench, example, played)
    return played


def record(example: Example, *, base_url: str, model: str, renew: bool) -> Played:
    """Play an example with a server in the place of missing replies, and write all replies that were used."""
    known = {} if renew else {row["key"]: row for row in read_rows()}
    client = ModelClient(base_url, strong=model, timeout_s=1800)
    recorder, played = RecordingModel(client, known, example), Played()
    with (
        _open_bench({"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "none", "MODEL": model}) as bench,
        patch.object(bench.worker, "model_client", lambda name, fast="": (recorder, "")),
    ):
        _play(bench, example, played, recorder)
    with _file_lock:
        of = f"{example['flow']}: {example['question']}"
        kept = [row for row in read_rows() if row["of"] != of]
        rows = [*kept, *({**row, "of": of} for row in recorder.used.values())]
        order = [f"{one['flow']}: {one['question']}" for one in list_examples()]
        rows = sorted((row for row in rows if row["of"] in order), key=lambda row: order.index(row["of"]))
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        REPLIES.write_text(text, "utf-8")
    return played


def read_rows() -> list[Row]:
    """All recorded replies."""
    return list(map(json.loads, REPLIES.read_text("utf-8").splitlines())) if REPLIES.is_file() else []


@contextmanager
def _open_bench(given: dict[str, Any], data: Path | None = None) -> Iterator[Workbench]:
    with nullcontext(data) if data else tempfile.TemporaryDirectory() as folder:
        defaults = {name: setting.default for name, setting in configuration.SETTINGS.items()}
        own = {"TOUCHSTONE_DATA": str(folder), "OLLAMA_URL": "", "EMBEDDING_MODEL": "off", "CONFIG_FILE": ""}
        bench = Workbench(configuration.read_config(defaults | own | given))
        try:
            yield bench
        finally:
            bench.shutdown()


def _play(bench: Workbench, example: Example, played: Played, client: Any = None) -> None:
    """Start the example and do its acts."""
    if example["flow"] == "reply":
        played.views.append(_reply(bench, example, client))
        return
    run_id = _start(bench, example)
    bench.drive(run_id)
    played.views.append(bench.snapshot(run_id))
    for told in example.get("next", []):
        act = fill_act(played.views[-1].state, told)
        if act is None or played.views[-1].run.status is Status.PAUSED:
            return
        bench.act(run_id, act.act, None, **act.given)
        bench.drive(run_id)
        played.views.append(bench.snapshot(run_id))


def _start(bench: Workbench, example: Example) -> str:
    flow, question = example["flow"], example["question"]
    settings = Settings.model_validate({"flow": flow, "world": "demo", **example.get("settings", {})})
    if flow == "chat":
        settings = settings.replace(scope=LibraryScope(source_ids=bench.library.add_demo()))
    if flow == "check_text":
        path = DEMO / example["file"]
        return api.start_text_check(bench, path.name, path.read_bytes(), settings)
    if flow == "collect":
        return api.start_collect_run(bench, question, settings.start_urls, settings)
    return bench.start(question, settings)


def _reply(bench: Workbench, example: Example, client: Any) -> RunSnapshot:
    stored = ResponseConfig(
        ai_response=AIResponseSettings(store_conversations=True, graph_timeout_seconds=MAX_REPLY_S)
    )
    service = ReplyService(bench, kb=DEMO_KB, response=stored, client=client)
    try:
        outcome = service.reply(Conversation(messages=example["messages"]), model="auto")
        return bench.snapshot(outcome.run_id)
    finally:
        service.close()


if __name__ == "__main__":
    main()
