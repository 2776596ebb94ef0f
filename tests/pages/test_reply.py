"""The Reply screen, whole: the form and how it is read, a reply with its steps, the silences and their
reasons, failures, the door for bots."""

from __future__ import annotations

import re
import threading

import pytest

from agent.bot.responder import ReplyService
from agent.llm.detect import DetectedModel
from agent.types import Outcome, Page
from agent.types.reply import Conversation, Message, RequestContext
from pages.widgets.reply import bot_services
from pages.widgets.shell import drafts
from tests.pages.conftest import find_button, shown
from tests.web.replying_model import Script, stocked
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow

NIGHT = "Backups run at night, at half past two."


@pytest.fixture(autouse=True)
def _closed():
    yield
    for thread in threading.enumerate():
        if thread.name.startswith("reply-"):
            thread.join(20)
    bot_services.close()
    drafts._unstored.clear()


def _replied(
    bench, *messages: tuple[str, str], script: Script | None = None, context: RequestContext | None = None
) -> str:
    """A reply that was asked for and has ended; returns its run's id."""
    talk = Conversation(messages=[Message(role=role, text=text) for role, text in messages])  # type: ignore[arg-type]
    service = ReplyService(bench, client=ScriptedModel(script) if script else None)
    try:
        asked_by = context or bot_services.build_context(bot_services.LIBRARY)
        return service.reply(talk, asked_by, hold=True).run_id
    finally:
        service.close()


def _answering(bench, script: Script) -> None:
    """The screen's own service answers with the script."""
    bench.worker.reply_model().found = DetectedModel(ScriptedModel(script), "")


def _ended() -> None:
    for thread in threading.enumerate():
        if thread.name.startswith("reply-"):
            thread.join(20)
            assert not thread.is_alive()


def test_a_first_visit_says_what_to_do(app):
    tester = app("reply")
    assert not tester.exception
    text = shown(tester).replace("\\", "")
    assert (
        "The knowledge base is empty" in text and "No replies yet" in text and "project_introduction" in text
    )
    assert "curl -s http" in text and "/reply -H" in text
    find_button(tester, "Reply").click().run()
    assert "no conversation yet" in tester.warning[0].value.replace("\\", "")


def test_a_models_reply_shows_its_reasons_and_quotes(app, bench):
    stocked(bench)
    script = Script(
        select=["kb:backups.md"], write=[("They run at night.", NIGHT), ("And on the moon.", "no such quote")]
    )
    run_id = _replied(
        bench,
        ("user", "When do backups run?"),
        script=script,
        context=RequestContext(platform="forum", channel="help"),
    )
    tester = app("reply", run=run_id)
    text = shown(tester)
    assert not tester.exception and (said := "They run at night.") in text
    assert "asked by a bot: forum help" in text and "it fits" in text
    assert "Drafted, but not said" in text
    assert f">{said}<" in text and 'class="cite"' in text


def test_markup_in_a_conversation_is_dead(app, bench):
    said = (
        ("user", "<img src=x onerror=alert(1)> where?"),
        ("bot", "![x](http://e.example/)"),
        ("user", "and <b>when</b>?"),
    )
    text = shown(app("reply", run=_replied(bench, *said)))
    assert "<img" not in text and "&lt;b&gt;when" in text


def test_settings_that_cannot_be_used_are_told(app, bench, tmp_path):
    broken = tmp_path / "config.yaml"
    broken.write_text("ai_response:\n  max_sources: many\n", encoding="utf-8")
    bench.config.CONFIG_FILE = str(broken)
    tester = app("reply")
    told = tester.warning[0].value.replace("\\", "")
    assert not tester.exception and "cannot be used" in told and "max_sources" in told


def test_the_screen_says_what_is_kept_and_keeps_no_typed_conversation(app, bench):
    stocked(bench)
    tester = app("reply")
    tester.text_area(key="reply:conversation").set_value("When do backups run?").run()
    assert "Conversations are not stored" in shown(tester) and bench.store.draft("reply:conversation") == ""
    assert app("reply").text_area(key="reply:conversation").value == "When do backups run?", "in memory"
    find_button(tester, "Reply").click().run()
    _ended()
    tester.run()
    assert "This conversation is not stored" in shown(tester) and bench.runs() == []


def test_pages_that_runs_have_read_are_answered_from_when_chosen(app, bench):
    text = "The kiln is fired at dusk."
    page = Page(
        url="https://read.test/",
        final_url="https://read.test/",
        outcome=Outcome.OK,
        text=text,
        sha256="f" * 64,
    )
    bench.store.pages.put(page)
    bench.library.index_pending()
    _answering(bench, Script(select=_listed, write=[(text, text)]))
    for chosen in (False, True):
        tester = app("reply")
        tester.text_area(key="reply:conversation").set_value("When is the kiln fired?").run()
        tester.toggle(key="reply-read-pages").set_value(chosen).run()
        find_button(tester, "Reply").click().run()
        _ended()
        tester.run()
        assert (text in shown(tester)) is chosen


def _listed(prompt: str) -> list[str]:
    return re.findall(r"kb:https://read\.test[^\s|)\]]*", prompt)[:1]
