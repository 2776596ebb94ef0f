"""Runs over HTTP: start, list, wait, watch, act, evidence, exports; the library and batches."""

from __future__ import annotations

import json

import pytest

from agent.accounts.people import LOCAL
from agent.actions.acts import ACTS
from agent.types import Settings
from tests.agent.http.conftest import DEMO, QUESTION

pytestmark = pytest.mark.slow

CITED = "The bridge is red ([the Courier](https://granvattnet-courier.example/2026/11/02/bridge-open))."


def read_events(text: str) -> list[tuple[int, str]]:
    """The ids of the steps in a stream, with the names of the steps."""
    blocks = [
        dict(line.split(": ", 1) for line in one.splitlines() if ": " in line) for one in text.split("\n\n")
    ]
    return [(int(one["id"]), json.loads(one["data"])["name"]) for one in blocks if "id" in one]


def test_a_run_is_started_once_for_a_key_and_recorded_as_by_the_program(local) -> None:
    caller, key = local.call(local.make_token(name="night job")), {"idempotency-key": "k1"}
    asked = {"question": QUESTION, "settings": DEMO}
    first = caller.post("/runs", json=asked, headers=key)
    run_id = first.json()["id"]
    assert first.status_code == 201 and first.headers["location"].endswith(run_id)
    again = caller.post("/runs", json=asked, headers=key)
    assert (again.status_code, again.json()["id"]) == (200, run_id)
    other = caller.post("/runs", json={**asked, "question": "Why?"}, headers=key)
    assert other.status_code == 400 and "Idempotency-Key" in other.json()["detail"]
    assert len(caller.get("/runs").json()["runs"]) == 1
    bench = local.bench()
    bench.drive(run_id)
    assert caller.post(f"/runs/{run_id}/acts/send_back", json={"note": "Which year?"}).status_code == 200
    steps = {step.name: step.change.get("program") for step in bench.snapshot(run_id).steps}
    assert steps["ask"] == steps["send_back"] == "night job" and steps["decide"] is None
    assert caller.get(f"/runs/{run_id}").json()["program"] == "night job"
    bench.act(run_id, "steer", note="Be brief.")
    assert "program" not in bench.snapshot(run_id).steps[-1].change, "a person is no program"
    recorded = caller.get(f"/runs/{run_id}/exports/json").json()["steps"][0]
    assert recorded["program"] == "night job"


def test_runs_are_listed_page_by_page_each_once(local) -> None:
    bench, caller = local.bench(), local.call(local.make_token())
    made = [bench.start(f"Question {n}?", Settings(**DEMO)) for n in range(5)]
    seen, cursor = [], ""
    while True:
        page = caller.get("/runs", params={"limit": 2, "cursor": cursor}).json()
        seen += [run["id"] for run in page["runs"]]
        bench.start("A newer one?", Settings(**DEMO))
        if not (cursor := page["next"]):
            break
    assert seen == [*{run.id: 1 for run in bench.runs() if run.id in made}]
    assert caller.get("/runs?cursor=nothing").status_code == 404
    bench.delete(made[0])
    assert caller.get(f"/runs/{made[0]}").status_code == 404


def test_readers_that_break_and_resume_lose_and_double_no_step(local) -> None:
    run_id = local.run()
    caller, head = local.call(local.make_token()), local.bench().snapshot(run_id).head
    for cut in range(head):
        whole = caller.get(f"/runs/{run_id}/events").text.split("\n\n")
        begun = read_events("\n\n".join(whole[: cut + 1]))
        rest = caller.get(f"/runs/{run_id}/events", headers={"last-event-id": str(begun[-1][0])}).text
        assert [n for n, _ in begun + read_events(rest)] == [*range(head + 1)]
    assert caller.get(f"/runs/{run_id}/events", headers={"last-event-id": str(head)}).status_code == 204
    future = caller.get(f"/runs/{run_id}/events", headers={"last-event-id": str(head + 1)})
    assert future.status_code == 400 and f"the last is {head}" in future.json()["detail"]
    assert caller.get(f"/runs/{run_id}/events", headers={"last-event-id": "x"}).status_code == 422


def test_the_stream_of_a_token_that_is_revoked_ends(local) -> None:
    token = local.make_token()
    tokens, bench = local.benches.token_accounts.tokens, local.bench()
    run_id = bench.start(QUESTION, Settings(**DEMO))
    with local.call(token).stream("GET", f"/runs/{run_id}/events") as answer:
        lines = answer.iter_lines()
        assert next(lines) == "id: 0"
        tokens.revoke(LOCAL, tokens.list(LOCAL)[0].id)
        assert not any("rest" in line for line in lines)


def test_an_answer_has_evidence_and_what_it_quotes_stands_on_its_page(local) -> None:
    run_id = local.run()
    caller, bench = local.call(local.make_token()), local.bench()
    answer = caller.get(f"/runs/{run_id}/answer").json()
    assert answer["sentences"] and answer["withheld"] == 0
    for sentence in answer["sentences"]:
        found = caller.get(f"/runs/{run_id}/evidence/{sentence['id']}").json()
        assert found["text"] == sentence["text"] and found["quotes"]
        for quote in found["quotes"]:
            page = bench.page(quote["page"])
            assert (
                page.text[quote["start"] : quote["end"]] == quote["quote"] and page.sha256 == quote["sha256"]
            )
            assert quote["before"] + quote["quote"] + quote["after"] in page.text
    missing = caller.get(f"/runs/{run_id}/evidence/s99")
    assert missing.status_code == 404 and "s1 to s" in missing.json()["detail"]
    assert {fact["id"] for fact in caller.get(f"/runs/{run_id}/facts").json()} >= {quote["fact"]}


@pytest.mark.parametrize("name", ["md", "json", "csv", "bundle", "items.csv", "nothing"])
def test_exports(local, name: str) -> None:
    run_id = local.run()
    answer = local.call(local.make_token()).get(f"/runs/{run_id}/exports/{name}")
    assert answer.status_code == {"items.csv": 409, "nothing": 404}.get(name, 200)


def test_every_act_of_the_table_has_a_route_and_what_is_not_possible_now_is_told(local) -> None:
    run_id = local.run()
    caller = local.call(local.make_token())
    paths = caller.get("/openapi.json").json()["paths"]
    assert {path.rpartition("/")[2] for path in paths if "/acts/" in path} == set(ACTS)
    refused = caller.post(f"/runs/{run_id}/acts/approve")
    assert refused.status_code == 409 and "accept" in refused.json()["possible"]
    assert caller.post(f"/runs/{run_id}/acts/approve_path").status_code == 409
    assert caller.post(f"/runs/{run_id}/acts/send_back", json={"note": " "}).status_code == 400
    assert caller.post(f"/runs/{run_id}/acts/send_back", json={"nope": 1}).status_code == 422
    overtaken = caller.post(f"/runs/{run_id}/acts/accept?head=0")
    assert overtaken.status_code == 409 and local.bench().snapshot(run_id).run.status == "review"
    branch = caller.post(f"/runs/{run_id}/acts/fork", json={"step": 0}).json()
    assert branch["run"] != run_id
    assert local.bench().snapshot(branch["run"]).steps[-1].change["program"] == "reader"


def test_the_reason_of_a_program_begins_with_its_name(local) -> None:
    bench, caller = local.bench(), local.call(local.make_token(name="night job"))
    run_id = caller.post("/runs", json={"flow": "check_text", "text": CITED, "settings": DEMO}).json()["id"]
    bench.drive(run_id)
    marked = bench.snapshot(run_id).state.own.checked_text(bench.snapshot(run_id).state).sentences[0]
    given = {"sentence": marked.sentence.id, "mark": "supported", "reason": "I looked."}
    assert caller.post(f"/runs/{run_id}/acts/overrule", json=given).status_code == 200
    view = bench.snapshot(run_id)
    assert view.state.own.checked_text(view.state).sentences[0].overruled == "by program night job: I looked."
    empty = caller.post(f"/runs/{run_id}/acts/overrule", json={**given, "reason": " "})
    assert empty.status_code == 400 and "say why" in empty.json()["detail"]


def test_a_question_follows_and_texts_and_start_pages_are_taken(local) -> None:
    run_id = local.run()
    caller = local.call(local.make_token())
    further = caller.post("/runs", json={"question": "And why?", "follows": run_id}).json()
    assert local.bench().thread(run_id) == [run_id, further["id"]] and further["settings"]["world"] == "demo"
    text = {"flow": "check_text", "text": "The bridge is red [a](https://a.example/).", "settings": DEMO}
    assert caller.post("/runs", json=text).json()["flow"] == "check_text"
    assert (
        caller.post("/runs", json={"flow": "collect", "question": "All?", "settings": DEMO}).status_code
        == 400
    )
    folder = caller.post("/runs", json={"question": "Why?", "settings": {"world": "/"}})
    assert folder.status_code == 400 and "live or demo" in folder.json()["detail"]
    assert caller.post("/runs", json={"question": "Why?", "follows": "none"}).status_code == 404


def test_the_library_is_searched_and_added_to(local) -> None:
    caller = local.call(local.make_token(name="x" * 80))
    added = caller.post("/library/documents?name=bridge.md", content=b"# Bridge\n\nThe bridge is red.")
    assert added.status_code == 201 and added.json()["tags"][0].startswith("by program x")
    assert caller.get("/library/search", params={"q": "red bridge"}).json()["hits"][0]["title"] == "Bridge"
    assert caller.post("/library/documents?name=a.exe", content=b"\0").status_code == 400


def test_a_batch_is_started_watched_stopped_and_read(local) -> None:
    caller = local.call(local.make_token(name="night job"))
    made = caller.post("/batches", json={"table": f"question\n{QUESTION}\n", "settings": DEMO})
    batch = made.json()
    assert made.status_code == 201 and "by program night job" in batch["name"]
    assert caller.get("/batches").json()[0]["id"] == batch["id"]
    bench = local.bench()
    bench.worker.batch_scheduler.schedule_all()
    run_id, *_ = caller.get(f"/batches/{batch['id']}").json()["runs"]
    assert caller.get(f"/runs/{run_id}").json()["program"] == "night job"
    assert caller.post(f"/batches/{batch['id']}/stop").json()["state"] == "stopped"
    assert caller.get(f"/batches/{batch['id']}/export").text.startswith('"question"')
    assert caller.get(f"/batches/{batch['id']}/export?form=json").json()["rows"]
    assert caller.post("/batches", json={"table": "nothing", "settings": DEMO}).status_code == 400
    assert caller.get("/batches/none").status_code == 404


def test_an_answer_is_verified_again_with_both_scopes(local) -> None:
    run_id = local.run()
    path, bench = f"/runs/{run_id}/acts/verify_again", local.bench()
    for scopes in (["research"], ["read"], ["check"], ["site", "check"]):
        assert local.call(local.make_token(scopes=scopes)).post(path, json={}).status_code == 403
    caller = local.call(local.make_token(scopes=["read", "check"]))
    made = caller.post(path, json={}).json()["run"]
    bench.drive(made)
    told = caller.get(f"/runs/{made}/exports/json").json()
    assert {one["standing"] for one in told["quotes"]} == {"stands"} and told["verifies"] == run_id
    assert [one["id"] for one in caller.get("/runs?flow=verify_again").json()["runs"]] == [made]
    checks = local.call(local.make_token(scopes=["check"]))
    asked = {"follows": made, "question": "Again?", "settings": {"verifies": local.run(), **DEMO}}
    again = checks.post("/runs", json=asked).json()["id"]
    assert bench.snapshot(again).run.settings.verifies == run_id, "no way to the quotes of another run"
    assert checks.post("/runs", json={**asked, "flow": "verify_again", "follows": ""}).status_code == 422


def test_what_is_new_since_a_run(local) -> None:
    first = local.run()
    second = local.bench().start(QUESTION, Settings(**DEMO), known={"follows": first})
    local.bench().drive(second)
    caller = local.call(local.make_token(scopes=["research"]))
    told = caller.get(f"/runs/{second}/new-since").json()
    assert (told["since"], told["facts"]) == (first, [])
    assert caller.get(f"/runs/{first}/new-since").json()["since"] == ""
    assert caller.get(f"/runs/{first}/new-since?since={second}").json()["since"] == second
    assert caller.get(f"/runs/{first}/new-since?since=nothing").status_code == 404
    assert local.call(local.make_token(scopes=["site"])).get(f"/runs/{second}/new-since").status_code == 403


def test_a_schedule_is_made_watched_changed_run_and_deleted(local) -> None:
    run_id, caller = local.run(), local.call(local.make_token(name="night job"))
    made = caller.post("/schedules", json={"repeats": run_id, "when": "0 7 * * *", "zone": "Asia/Tokyo"})
    assert made.status_code == 201 and made.json()["program"] == "night job"
    path = f"/schedules/{made.json()['id']}"
    assert caller.get("/schedules").json() == [made.json()] == [caller.get(path).json()]
    ran = caller.post(f"{path}/runs")
    assert (ran.status_code, ran.json()["program"], ran.json()["question"]) == (201, "night job", QUESTION)
    again = caller.post(f"{path}/runs")
    assert again.status_code == 409 and "is at work: wait" in again.json()["detail"]
    paused = caller.patch(path, json={"state": "paused", "name": "Bridge"}).json()
    assert (paused["state"], paused["name"], paused["fired"]) == ("paused", "Bridge", 1)
    assert caller.patch(path, json={"state": "active"}).json()["next_at"] == made.json()["next_at"]
    for wrong, told in (
        ({"when": "* * * * *"}, "more often than every 15 minutes"),
        ({"zone": "Mars"}, "no time zone"),
        ({"settings": {"world": "/etc"}}, "the world live or demo"),
        ({"settings": {"flow": "nonsense"}}, "a known flow"),
    ):
        refused = caller.patch(path, json=wrong)
        assert refused.status_code == 400 and told in refused.json()["detail"]
    site = local.call(local.make_token(scopes=["site"]))
    assert site.get("/schedules").json() == [] and site.get(path).status_code == 403
    assert site.post("/schedules", json={"repeats": run_id}).status_code == 403
    assert caller.delete(path).status_code == 204 and caller.get(path).status_code == 404
    assert caller.get("/schedules").json() == [] and caller.get(f"/runs/{ran.json()['id']}").is_success
