"""What of a passage is shown, and which words are marked: any ending, any script, no markup of its own."""

from __future__ import annotations

from pages.widgets.library import passage_search


def test_words_are_marked_whatever_their_ending():
    drawn = passage_search.render_snippet("The Directors of the mills ran them.", "director of a mill")
    assert drawn == "The <mark>Directors</mark> of the <mark>mills</mark> ran them."


def test_scripts_without_blanks_are_marked_by_their_pairs():
    drawn = passage_search.render_snippet("東京都庁は新宿区にあります。", "新宿 東京")
    assert "<mark>東京</mark>都庁" in drawn and "<mark>新宿</mark>区" in drawn


def test_the_stretch_with_most_words_is_shown():
    text = (
        "Lorem ipsum dolor sit amet. " * 30
        + "The mill was founded by its director. "
        + "More words follow here. " * 30
    )
    drawn = passage_search.render_snippet(text, "director mill founded")
    assert drawn.startswith("… ") and drawn.endswith(" …") and drawn.count("<mark>") == 3 and len(drawn) < 500


def test_nothing_of_the_passage_becomes_markup():
    drawn = passage_search.render_snippet("<b>mill</b> & a | b\n\nc", "mill")
    assert drawn == "&lt;b&gt;<mark>mill</mark>&lt;/b&gt; &amp; a | b · c"
    assert passage_search.render_snippet("", "mill") == ""
