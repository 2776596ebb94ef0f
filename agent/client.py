"""A client of a Touchstone server for Python programs.

    with Touchstone("http://localhost:8501", token) as t:
        run = t.research("On what date did the Stenfors bridge reopen?")
        for step in run.steps():
            print(step.label)
        print(run.answer.text)

What the server refuses is raised as RequestRefused, with its status and what to do next in its message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Self, TypeVar

import httpx2

from agent.bot.http import RequestRefused
from agent.http.batches import BatchRecord
from agent.http.programs import NotPossible
from agent.http.records import AnswerRecord, Evidence, RunRecord, RunSummary, StepEvent
from agent.http.runs import WAIT_S, ActResult, RunPage, StartedFlow
from agent.types import LibrarySearchResult, LibrarySource, Record, Settings, Status

R = TypeVar("R", bound=Record)


class RemoteRun:
    """A run on the server."""

    def __init__(self, client: Touchstone, run_id: str) -> None:
        self.id = run_id
        self._client, self._path = client, f"/runs/{run_id}"

    def read(self, wait: float = 0.0) -> RunRecord:
        """The run as it is now, or when it rests, at the latest after `wait` seconds (up to 25)."""
        return self._client.get(RunRecord, self._path, wait=wait)

    def wait(self) -> RunRecord:
        """The run when it rests: it asks something, has an answer, paused or ended."""
        while (now := self.read(wait=WAIT_S)).status is Status.RUNNING:
            pass
        return now

    def steps(self, after: int = -1) -> Iterator[StepEvent]:
        """The steps behind `after` as they come, each once, until the run rests; a connection that breaks is
        opened anew."""
        while True:
            try:
                for step in self._client.watch(f"{self._path}/events", after):
                    if step is None:
                        return
                    after = step.n
                    yield step
            except (httpx2.ReadError, httpx2.RemoteProtocolError):
                continue

    @property
    def answer(self) -> AnswerRecord:
        """The newest answer, waited for while the run works."""
        self.wait()
        return self._client.get(AnswerRecord, f"{self._path}/answer")

    def evidence(self, sentence: str) -> Evidence:
        """What a sentence of the answer ("s1" …) rests on."""
        return self._client.get(Evidence, f"{self._path}/evidence/{sentence}")

    def act(self, name: str, head: int | None = None, /, **given: Any) -> ActResult:
        """Do an act with its parameters, on the run as it was at step `head` if that is given."""
        seen: dict[str, int] = {} if head is None else {"head": head}
        return self._client.post(ActResult, f"{self._path}/acts/{name}", json=given, params=seen)

    def export(self, name: str = "md") -> bytes:
        """The run as a file of a format."""
        file: bytes = self._client.send("GET", f"{self._path}/exports/{name}").content
        return file


class Touchstone:
    """A server and a token. `http`: the client to send with, in place of one of its own."""

    def __init__(self, url: str, token: str, *, http: httpx2.Client | None = None) -> None:
        self.url = url.rstrip("/") + "/api/v1"
        self._headers = {"authorization": f"Bearer {token}"}
        self._http = http or httpx2.Client(timeout=2 * WAIT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def start(self, flow: StartedFlow, question: str, *, key: str = "", **more: Any) -> RemoteRun:
        """Start a run. `more` are settings, and `text`, `follows`; with the same `key` again it is the run
        that was started first."""
        fields = {name: more.pop(name) for name in {"text", "follows"} & more.keys()}
        settings = Settings.model_validate(more).model_dump(mode="json", exclude_unset=True)
        body: dict[str, Any] = {"flow": flow, "question": question, "settings": settings, **fields}
        headers: dict[str, str] = {"idempotency-key": key} if key else {}
        return RemoteRun(self, self.post(RunRecord, "/runs", json=body, headers=headers).id)

    def research(self, question: str, **more: Any) -> RemoteRun:
        """Ask the web a question."""
        return self.start("research", question, **more)

    def ask_site(self, question: str, *pages: str, **more: Any) -> RemoteRun:
        """Ask the websites of these pages."""
        return self.start("site", question, start_urls=list(pages), **more)

    def collect(self, wish: str, *pages: str, **more: Any) -> RemoteRun:
        """Gather articles or threads from these pages."""
        return self.start("collect", wish, start_urls=list(pages), **more)

    def check_text(self, text: str, **more: Any) -> RemoteRun:
        """Check a text, as Markdown, against the sources it cites."""
        return self.start("check_text", "", text=text, **more)

    def open(self, run_id: str) -> RemoteRun:
        """A run by its id."""
        return RemoteRun(self, run_id)

    def list(self, **wanted: Any) -> Iterator[RunSummary]:
        """The runs, newest first, of one `flow` or `status` where it is given."""
        cursor = ""
        while True:
            page = self.get(RunPage, "/runs", cursor=cursor, **wanted)
            yield from page.runs
            if not (cursor := page.next):
                return

    def search_library(self, query: str, **limit: int) -> LibrarySearchResult:
        """The passages of the library most relevant to a query, `k` of them where it is given."""
        return self.get(LibrarySearchResult, "/library/search", q=query, **limit)

    def add_document(self, name: str, data: bytes) -> LibrarySource:
        """Add a document to the library, under its file name."""
        return self.post(LibrarySource, "/library/documents", params={"name": name}, content=data)

    def ask_table(self, table: str, **settings: Any) -> BatchRecord:
        """Start a batch: the questions of a table (CSV) as runs."""
        return self.post(BatchRecord, "/batches", json={"table": table, "settings": settings})

    def get(self, kind: type[R], path: str, **params: Any) -> R:
        """What stands at a path."""
        return kind.model_validate_json(self.send("GET", path, params=params).content)

    def post(self, kind: type[R], path: str, **options: Any) -> R:
        """What became of a request to a path."""
        return kind.model_validate_json(self.send("POST", path, **options).content)

    def send(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **options: Any
    ) -> Any:
        """The response to a request. Raises RequestRefused."""
        both = {**self._headers, **(headers or {})}
        response = self._http.request(method, self.url + path, headers=both, **options)
        _check(response)
        return response

    def watch(self, path: str, after: int) -> Iterator[StepEvent | None]:
        """The steps of one stream behind `after`; None when the run rests. Raises RequestRefused."""
        headers = {**self._headers, "last-event-id": str(after)}
        with self._http.stream("GET", self.url + path, headers=headers) as response:
            if response.is_error:
                response.read()
            _check(response)
            if response.status_code == HTTPStatus.NO_CONTENT:
                yield None
            event = ""
            for line in response.iter_lines():
                name, _, value = line.partition(": ")
                event = value if name == "event" else event
                if name == "data":
                    yield StepEvent.model_validate_json(value) if event == "step" else None


def _check(response: httpx2.Response) -> None:
    if not response.is_error:
        return
    is_problem = response.headers.get("content-type", "").startswith("application/problem+json")
    told = response.json() if is_problem else {}
    detail = told.get("detail", f"the server answered {response.status_code}")
    if "possible" in told:
        raise NotPossible(detail, told["possible"])
    wait = int(response.headers.get("retry-after", 0))
    raise RequestRefused(HTTPStatus(response.status_code), detail, wait)
