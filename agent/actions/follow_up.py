"""What a further question in a thread starts with: what stays private, and after a research run the facts and
pages of the earlier turns and the question as it stands alone."""

from __future__ import annotations

from collections.abc import Sequence

from agent.actions.release import find_private
from agent.answering import fact_view
from agent.answering.pages import offer_again
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import Change
from agent.retrieval.scorer import score_fact
from agent.text.question_analysis import parse_question
from agent.types import Fact, NoteReading, PageRef


def carry_over(views: Sequence[RunSnapshot], question: str) -> Change:
    """The first change of a further question after these turns: what stays private; in a thread of research
    also their verified facts with quotes, the pages behind them, and the sources that a note excluded."""
    change = keep_private(views)
    if views[-1].run.settings.flow != "research":  # others read the thread by themselves
        return change
    facts, pages, excluded = dict[str, Fact](), dict[str, PageRef](), list[str]()
    asked = complete_question(views[-1].state.full_question, question)
    for view in views:
        known = fact_view.facts_after_notes(view.state).values()
        kept = [fact for fact in known if fact.is_active and fact.verified and fact.page_id]
        for fact in kept:  # without its part, a person's mark and disputes of then
            prior = fact.replace(origin="prior_turn", step=0, part="", disputed=False)
            prior = prior.replace(decision="none", marked=-1, relevance=score_fact(asked, fact))
            facts[fact.id] = prior
        read = [ref for ref in view.state.pages.values() if ref.page_id and not ref.waiting]
        pages |= {ref.url: ref.replace(step=0, facts=0) for ref in [*read, *offer_again(read)]}
        excluded += fact_view.excluded_sites(view.state)
    change |= {"facts": list(facts.values()), "pages": list(pages.values())}
    if excluded:
        sites = list(dict.fromkeys(excluded))
        known_sites = NoteReading(
            note=-1, step=0, by="code", understood="", excluded_sites=sites, length=None, max_words=0, form=""
        )
        change["readings"] = [known_sites]
    return change | ({"asked": asked} if asked != question else {})


def keep_private(views: Sequence[RunSnapshot]) -> Change:
    """The change of a run that grows out of these by their private notes and files, which stay private."""
    private = dict.fromkeys(note for view in views for note in view.state.earlier_private_notes)
    for found in (find_private(view.steps) for view in views):
        private |= dict.fromkeys([*found.notes, *(text for text in found.readings if " " in text)])
    files = dict.fromkeys(words for view in views for words in view.state.file_words)
    known_private = {"earlier_private_notes": list(private), "file_words": list(files)}
    return {name: texts for name, texts in known_private.items() if texts}


def complete_question(before: str, question: str) -> str:
    """A question that names nothing with the names of the one before it."""
    names = [] if parse_question(question).name_words else parse_question(before).names
    return " ".join([question, *names])
