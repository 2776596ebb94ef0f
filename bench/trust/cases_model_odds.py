"""Cases of a model's server that lies in what surrounds its reply: codecs, counts, ends, faults, vectors."""

from __future__ import annotations

import json
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from agent.errors import ModelReplyError, ModelUnavailable
from agent.llm.embed import ServerEmbedder
from agent.llm.parse_reply import parse_reply
from agent.roles.research import AnalyzerReply
from agent.types import Status
from bench.trust.cases_models import Server, drive
from bench.trust.scorecard import Bench, Result, case
from tests.web import model_server as web
from tests.web.model_server import Answer, ModelServer, Request

MOST_MB = 100
GOOD: dict[str, Any] = {
    "charset=zlib": {"charset": "zlib"},
    "charset=rot13": {"charset": "rot13"},
    "prompt of 10^30 tokens": {"prompt_tokens": 10**30},
    "prompt of 10^18 tokens": {"prompt_tokens": 10**18},
    "reply of 10^18 tokens": {"completion_tokens": 10**18},
    "half a pair as its end": {"finish": "\ud800"},
}
"""What stands around each reply of an honest model: the run must go on to its report."""
BAD: dict[str, Any] = {
    "4 MB of punycode": web.raw(b"a-" + b"a" * 3_900_000, "application/json; charset=punycode"),
    "a refusal in zlib": Answer(400, b'{"error": {"message": "no"}}', "application/json; charset=zlib"),
    "half a pair in an error": web.sends({"error": {"message": "no \ud800"}}),
}
"""In place of a reply: the run must rest, and lose nothing. The codec would take minutes of the first."""
FAULTY = {"numbers": "1", "objects": "{}", "lists": "[]"}


class Liar(Server):
    """An honest model whose server lies around each reply."""

    def __init__(self, name: str) -> None:
        super().__init__(lambda shape: BAD.get(name) if shape == "AnalyzerReply" else None)
        self.told = GOOD.get(name)

    def __call__(self, request: Request) -> Any:
        reply = super().__call__(request)
        if self.told is None:
            return reply
        text = reply.model_dump_json() if isinstance(reply, BaseModel) else json.dumps(reply)
        told = {"finish": "stop", "charset": "utf-8", "prompt_tokens": 11, "completion_tokens": 7} | self.told
        choice = {"finish_reason": told["finish"], "message": {"role": "assistant", "content": text}}
        usage = {name: told[name] for name in ("prompt_tokens", "completion_tokens")}
        body = json.dumps({"choices": [choice], "usage": usage}).encode()
        return web.raw(body, f"application/json; charset={told['charset']}")


@case(
    "S10.10",
    "Codecs, counts of tokens, ends, masses of faults and numbers that a model's server may send",
    f"0 runs failed or cut short (they rest where a reply fails), <= {MOST_MB} MB",
    quick=True,
)
def odd_servers(bench: Bench) -> Result:
    misses = list[str]()
    for name in (*GOOD, *BAD):
        with tempfile.TemporaryDirectory() as folder:
            server = Liar(name)
            status, wrong, _ = drive(Path(folder), "research", server, max_tokens=500_000)
        end = Status.PAUSED if name in BAD else Status.REVIEW
        misses += [f"{name}: {status.value} {wrong}"] if wrong or status is not end else []
        is_short = not any(shape == "ReportReply" for shape, _ in server.asked)
        misses += [f"{name}: the run was cut short"] if is_short and name in GOOD else []
    most = 0.0
    for name, part in FAULTY.items():
        text = f'{{"facts": [{",".join([part] * (999_000 // (len(part) + 1)))}]}}'
        tracemalloc.start()
        try:
            parse_reply(text, AnalyzerReply)
            misses.append(f"a reply of {name} was taken")
        except ModelReplyError:
            most = max(most, tracemalloc.get_traced_memory()[1] / 1e6)
        finally:
            tracemalloc.stop()
    misses += [f"a reply of faults took {most:.0f} MB"] if most > MOST_MB else []
    numbers = ("1" * 401, "1e300", "NaN")
    for number in numbers:
        body = f'{{"data": [{{"index": 0, "embedding": [{number}]}}]}}'.encode()
        with ModelServer(embeds=lambda texts, body=body: web.raw(body)) as served:  # type: ignore[misc]
            try:
                ServerEmbedder(served.url, "m").embed(["a"], query=True)
                misses.append(f"a vector of {number[:5]} was taken")
            except ModelUnavailable:
                continue
    tried = len(GOOD) + len(BAD) + len(FAULTY) + len(numbers)
    return Result(tried, f"{len(misses)} missed; at most {most:.0f} MB for a reply", misses)
