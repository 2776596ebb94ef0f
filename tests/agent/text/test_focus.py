"""What a talk is about, from what was named and pointed at."""

from __future__ import annotations

from agent.text.focus import listen
from agent.text.pointing import pointer
from agent.types import Turn


def _first(*turns: tuple[str, str] | str) -> str:
    heard = [Turn(user=turn) if isinstance(turn, str) else Turn(user=turn[0], bot=turn[1]) for turn in turns]
    return listen(heard).ranked()[0].text


def _meant(question: str, *turns: tuple[str, str] | str) -> str:
    heard = [Turn(user=turn) if isinstance(turn, str) else Turn(user=turn[0], bot=turn[1]) for turn in turns]
    return listen(heard).meant(question, pointer(question))[0].text


def test_the_newest_matter_leads() -> None:
    assert _first("Tell me about Mount Tova.", "How deep is Granvattnet?") == "Granvattnet"


def test_what_is_pointed_at_stays_the_matter() -> None:
    assert _first("Tell me about herons.", "Are they shy of people?", "Do they dance?") == "herons"


def test_what_is_asked_about_weighs_more_than_what_stands_beside_it() -> None:
    assert _first("Tell me about the bell in the tower.") == "the bell"


def test_a_name_in_full_takes_up_its_short_form() -> None:
    talk = listen([Turn(user="Who runs Älvmora Mejeri?"), Turn(user="Is the Mejeri open?")])
    assert [thing.text for thing in talk.ranked()] == ["Älvmora Mejeri"]


def test_a_question_does_not_point_at_what_it_names_itself() -> None:
    talk = listen([Turn(user="Tell me about Granvattnet."), Turn(user="Tell me about Lövnäs.")])
    question = "Is it near Lövnäs?"
    assert (
        talk.meant(question, pointer(question))[0].text == "Granvattnet" and talk.meant("Lövnäs?", None) == []
    )


def test_persons_are_told_from_what_they_run_and_where_they_were_born() -> None:
    dairy = ("Who runs Älvmora Mejeri?", "The dairy is run by Ida Holmqvist, who bought it in 1998.")
    assert (
        _meant("When was she born?", dairy) == "Ida Holmqvist"
        and _meant("Where is it?", dairy) == "Älvmora Mejeri"
    )
    born = ("Where was Ada Quill born?", "Ada Quill was born in Lövnäs.")
    assert (
        _meant("When did she die?", born) == "Ada Quill"
        and _meant("What is it famous for?", born) == "Lövnäs"
    )
    assert (
        _meant(
            "Is it cold there?",
            "Tell me about Ada Quill.",
            "Where did she study?",
            "Tell me about Granvattnet.",
        )
        == "Granvattnet"
    )


def test_several_are_meant_by_a_plural_and_places_by_there() -> None:
    assert _meant("How long do they live?", "Do herons eat fish?") == "herons"
    assert _meant("What can I see there?", "Does Ada Quill live in Lövnäs?") == "Lövnäs"


def test_a_reply_counts_for_less_than_the_person() -> None:
    assert _first(("How do I clean a lens?", "Use a soft brush. Then use alcohol.")) == "the lens"
    assert listen([]).ranked() == []
