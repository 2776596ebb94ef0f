"""Cases of saved keys: who changes the address of a server gets no key that was given for another."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from agent.actions.server_settings import save_model_setting
from agent.bot.responder import ReplyService
from agent.settings.config import read_config
from agent.settings.saved import make_key
from agent.types import Settings
from agent.types.reply import Conversation, Message
from agent.workbench import Workbench
from agent.workbenches import Workbenches
from bench.trust.scorecard import Bench, Result, case
from tests.web.login import LOGIN, sign_in
from tests.web.model_server import ModelServer
from tests.web.saved_keys import save_key
from tests.web.site import Asked, Reply, Site

SERVERS = {
    "OPENAI_API_KEY": "sk-server-key-of-ann",
    "EMBEDDING_API_KEY": "em-key-of-ann",
    "BRAVE_API_KEY": "brave-key-of-ann",
    "TAVILY_API_KEY": "tavily-key-of-ann",
    "OPENALEX_API_KEY": "openalex-key-of-ann",
    "SEMANTIC_SCHOLAR_API_KEY": "scholar-key-of-ann",
    "GOOGLE_API_KEY": "google-key-of-ann",
}
PERSONAL = {name: key.replace("ann", "bo") for name, key in SERVERS.items() if name != "EMBEDDING_API_KEY"}
ENGINES = ("google", "brave", "tavily", "openalex", "semanticscholar")
ASKED = "When was the ferry Vinga launched?"


@contextmanager
def environment(**values: str) -> Iterator[None]:
    with patch.dict(os.environ, values):
        yield


class Listener:
    """A model server and a search engine that write down whatever key they are sent."""

    def __init__(self, stack: ExitStack) -> None:
        self.heard: list[str] = []
        self.model = stack.enter_context(
            ModelServer(
                lambda request: '{"ok": true}', models=["theirs"], embeds=lambda texts: [[1.0]] * len(texts)
            )
        )
        self.site = stack.enter_context(Site({"/search": self.listen}))

    def listen(self, asked: Asked) -> Reply:
        self.heard.append(f"{asked.path} {asked.headers} {asked.body!r}")
        return Reply(200, b"{}")

    def find(self) -> list[str]:
        """The keys that arrived."""
        heard = " ".join([*self.model.keys, *self.heard])
        return [key for key in (*SERVERS.values(), *PERSONAL.values(), "sk-outside") if key in heard]

    @property
    def count(self) -> int:
        return len(self.model.paths) + len(self.heard)


def save(bench: Workbench, keys: dict[str, str]) -> None:
    for name, key in keys.items():
        save_key(bench, name, key)


def use(bench: Workbench) -> None:
    """Everything that asks a server with a key: the check, the list, a run, a reply, a search by meaning."""
    bench.active_configuration()
    bench.check_model()
    bench.check_embedder()
    bench.drive(bench.start(ASKED, Settings(world="demo", max_calls=2)))
    ReplyService(bench).reply(Conversation(messages=[Message(role="user", text=ASKED)]))
    for name in ENGINES:
        bench.check_engine(name)


def serve(stack: ExitStack, meanwhile: Callable[[Workbenches, Listener], None]) -> Listener:
    """A server on which ann (its admin) and bo saved their keys; then `meanwhile`, then both work."""
    listener = Listener(stack)
    stack.enter_context(environment(EMBEDDING_MODEL="e", GOOGLE_CSE_ID="cx"))
    benches = Workbenches(read_config())
    ann, bo = sign_in(benches, "ann"), sign_in(benches, "bo")
    with patch("agent.llm.detect._list_models", return_value=["theirs"]):
        save(benches.open(ann), SERVERS)
        save(benches.open(bo), PERSONAL)
    meanwhile(benches, listener)
    benches.close()
    again = Workbenches(read_config())  # a restart
    for person in (ann, bo):
        use(again.open(person))
    again.close()
    return listener


def second_admin(benches: Workbenches, listener: Listener) -> None:
    """cy becomes an admin and sets both addresses; ann and bo go on working."""
    cy, ann, bo = (sign_in(benches, name) for name in ("cy", "ann", "bo"))
    benches.accounts.people.set_role(ann, cy.id, "admin")  # type: ignore[union-attr]
    server = benches.open_server(sign_in(benches, "cy"))
    for name in ("OPENAI_BASE_URL", "EMBEDDING_BASE_URL"):
        save_model_setting(server, name, listener.model.url)
    for person in (ann, bo, cy):
        use(benches.open(person))


def by_environment(stack: ExitStack) -> Callable[[Workbenches, Listener], None]:
    """The environment of the next start names other addresses."""

    def move(_: Workbenches, listener: Listener) -> None:
        url, search = listener.model.url, listener.site.url("/search")
        engines = ",".join(f"{name}={search}" for name in ENGINES[1:])
        addresses = {"OPENAI_BASE_URL": url, "EMBEDDING_BASE_URL": url, "GOOGLE_ENDPOINT": search}
        stack.enter_context(environment(ENGINE_URLS=engines, **addresses))

    return move


def outside_key(benches: Workbenches, listener: Listener) -> None:
    """A key of the environment, and an address that an admin saves."""
    save_model_setting(benches.open(sign_in(benches, "ann")), "OPENAI_BASE_URL", listener.model.url)


@case(
    "S9.6",
    "Another address, by a second admin or by the environment: keys it receives (server's and personal)",
    "0 of 14 keys",
    quick=True,
)
def keys(_: Bench) -> Result:
    misses, asked = [], 0
    for title in ("a second admin", "the environment", "a key of the environment"):
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            own = {"TOUCHSTONE_DATA": folder, "TOUCHSTONE_SECRET_KEY": make_key(), "OLLAMA_URL": ""}
            outside = {"OPENAI_API_KEY": "sk-outside"} if title.startswith("a key") else {}
            stack.enter_context(environment(**own, **LOGIN, **outside))
            stack.enter_context(patch.object(Workbench, "start_workers", lambda self: None))
            move = by_environment(stack) if title == "the environment" else second_admin
            if outside:
                stack.enter_context(patch.dict(SERVERS))
                SERVERS.pop("OPENAI_API_KEY")
                move = outside_key
            listener = serve(stack, move)
            asked += listener.count
            misses += [f"{title}: {key}" for key in listener.find()]
            misses += [] if listener.count else [f"{title}: the listener was not asked at all"]
    return Result(asked, f"{len(misses)} keys arrived in {asked} requests", misses)
