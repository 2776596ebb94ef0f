"""Runs all flows, in the demo world and in a live one made of servers on this machine:
`python -m bench.trust.six_flows FOLDER`. Writes there which ports serve which purpose of `agent.net.policies`."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from authlib.integrations.starlette_client import OAuth

from agent import api
from agent.accounts.sign_in import bound_provider_client
from agent.bot.responder import ReplyService
from agent.llm.detect import find_model
from agent.net import policies, tunnel
from agent.settings import config as configuration
from agent.types import ENGINE_NAMES, CollectLimits, Settings, SiteLimits, Status
from agent.types.reply import Conversation, Message
from agent.workbench import Workbench
from bench.trust.traitor import TRUE, Mind
from tests.web.model_server import ModelServer, Request
from tests.web.site import Reply, Site, html

FLOWS = ("research", "site", "collect", "check_text", "chat", "reply")
QUESTION = "When was the ferry Vinga launched?"
ASKED = ("duckduckgo", "google", "searxng")
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
DISCOVERY = "/.well-known/openid-configuration"
HIT = '<div class="body"><h2>Ferries</h2><a href="{}">Ferries of the yard</a></div>'


class Server:
    """An honest model, anew for each flow, that answers one call at a time."""

    def __init__(self) -> None:
        self.mind, self.lock = Mind(), threading.Lock()

    def __call__(self, request: Request) -> Any:
        shape = (request.body.get("response_format") or {}).get("json_schema", {}).get("name", "")
        with self.lock:
            if isinstance(request.body["messages"][-1]["content"], list):  # the one with a picture
                return {}
            return self.mind(request.body["messages"], SimpleNamespace(__name__=shape))  # type: ignore[arg-type]


def run_flow(bench: Workbench, flow: str, world: str, start: str) -> str:
    """What was wrong with a run of the flow; "" for nothing."""
    own: dict[str, Any] = {"start_urls": [start]} if flow in ("site", "collect") else {}
    own |= {"site": SiteLimits(max_pages=3)} if flow == "site" else {}
    own |= {"collect": CollectLimits(max_pages=3)} if flow == "collect" else {}
    settings = Settings(flow=flow, world=world, max_steps=4, max_pages=4, **own)
    if flow == "check_text":
        text = f"{TRUE} [1]\n\n[1] {start}\n"
        run_id = api.start_text_check(bench, api.PASTED_NAME, text.encode(), settings)
    else:
        run_id = bench.start(QUESTION, settings)
    status = bench.drive(run_id)
    return bench.snapshot(run_id).run.error if status is Status.FAILED else ""


def describe_provider(address: str) -> None:
    """Read what a login's provider says of itself."""
    bound_provider_client(address)
    oauth = OAuth()
    oauth.register("here", client_id="touchstone", server_metadata_url=address)
    asyncio.run(oauth.create_client("here").load_server_metadata())


def ask_with_picture(bench: Workbench, picture: str) -> None:
    """A message with a picture, to be answered."""
    service = ReplyService(bench)
    service.reply(Conversation(messages=[Message(role="user", text=QUESTION, images=[picture])]))
    service.close()


def main(folder: Path) -> None:
    """Run the flows, and note the ports and what failed."""
    tunnels: list[int] = []
    opened = tunnel.Tunnel.__enter__

    def note(one: tunnel.Tunnel) -> tunnel.Tunnel:
        tunnels.append(one._listener.getsockname()[1])
        return opened(one)

    tunnel.Tunnel.__enter__ = note  # type: ignore[method-assign]
    server, wrong = Server(), []
    boats = html(f"<title>Ferries</title><h1>Ferries</h1><p>{TRUE}</p><p><a href='/boats'>All boats</a></p>")
    with (
        Site({"/": boats, "/boats": boats}) as pages,
        ModelServer(server) as model,
        ModelServer() as lists,
        ModelServer(embeds=lambda texts: [[1.0, 2.0] for _ in texts]) as vectors,
        Site({"/html/": html(HIT.format(pages.url("/boats")))}) as engines,
        Site({"/p.png": Reply(200, PNG)}) as pictures,
        Site({DISCOVERY: Reply(200, b"{}")}) as provider,
    ):
        (folder / "reply.yaml").write_text('{"ai_response": {"llm_enable_image": true}}', encoding="utf-8")
        config = configuration.read_config(
            {
                "TOUCHSTONE_DATA": str(folder / "data"),
                "OPENAI_BASE_URL": model.url,
                "OPENAI_API_KEY": "k",
                "MODEL": "served",
                "CONFIG_FILE": str(folder / "reply.yaml"),
                "EMBEDDING_MODEL": "served",
                "EMBEDDING_BASE_URL": vectors.url,
                "DDG_ENDPOINT": engines.url("/html/"),
                "GOOGLE_ENDPOINT": engines.url("/"),
                "GOOGLE_API_KEY": "k",
                "GOOGLE_CSE_ID": "c",
                "SEARXNG_URL": engines.url("/"),
                "ENGINES_OFF": ",".join(set(ENGINE_NAMES) - set(ASKED)),
                "FETCH_ALLOW": "127.0.0.1",
                "FETCH_GAP": "0",
            }
        )
        bench = Workbench(config)
        bench.library.add_file("ferry.md", f"# Ferries\n\n{TRUE}\n".encode())
        bench.library.vector_index.embed_pending()
        for engine in ASKED:
            bench.worker.world("live").search(engine, "ferry Vinga")
        for world in ("live", "demo"):
            for flow in FLOWS:
                server.mind = Mind()
                if error := run_flow(bench, flow, world, pages.url("/boats")):
                    wrong.append(f"{flow} in {world}: {error}")
        ask_with_picture(bench, pictures.url("/p.png"))
        find_model(configuration.read_config({"OPENAI_BASE_URL": lists.url}))  # no MODEL: the list is asked
        describe_provider(provider.url(DISCOVERY))
        bench.shutdown()
    serves = {
        policies.MODEL_REPLY: [model.url],
        policies.MODEL_LIST: [lists.url],
        policies.VECTORS: [vectors.url],
        policies.ENGINE: [engines.url(), *(f"http://127.0.0.1:{port}" for port in tunnels)],
        policies.PAGE: [pages.url()],
        policies.PICTURE: [pictures.url()],
        policies.SIGN_IN: [provider.url()],
    }
    listed = [one for one in vars(policies).values() if isinstance(one, policies.Policy)]
    named = {  # a new one needs a server of its own here
        policy.purpose: [urlsplit(url).port for url in serves[policy]] for policy in listed
    }
    (folder / "flows.json").write_text(json.dumps({"ports": named, "wrong": wrong}), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
