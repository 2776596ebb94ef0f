"""The colours as they are written down: texts stand out 4.5 to 1 (WCAG 2 AA) and what is drawn 3 to 1, on
paper and at night."""

from __future__ import annotations

import re
import tomllib
from itertools import product

import pytest

from agent.settings.config import ROOT
from pages.widgets.run import confidence_chart, flow_diagram, page_graph

STYLE = (ROOT / "pages" / "widgets" / "shell" / "style.css").read_text(encoding="utf-8")
THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
NAMES = ("light", "dark")
TOKENS = {m[1]: (m[2], m[3]) for m in re.finditer(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", STYLE)}
TEXT, DRAWN = 4.5, 3.0


def light(colour: str) -> float:
    """The relative luminance of #rrggbb (WCAG 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    a, b = sorted((light(one), light(other)), reverse=True)
    return (a + 0.05) / (b + 0.05)


def pale(pairs: dict[str, tuple[str, str]], least: float) -> list[str]:
    return [f"{name}: {contrast(*pair):.2f}" for name, pair in pairs.items() if contrast(*pair) < least]


def test_the_measure_itself() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21) and contrast(
        "#777777", "#ffffff"
    ) == pytest.approx(4.48, abs=0.01)
    assert len(TOKENS) >= 14, "the colours of the stylesheet were found"


@pytest.mark.parametrize("night", [0, 1], ids=NAMES)
def test_words_stand_out(night: int) -> None:
    theme, of = THEME[NAMES[night]], {name: pair[night] for name, pair in TOKENS.items()}
    grounds = {
        "page": theme["backgroundColor"],
        "panel": of["panel"],
        "sunk": of["sunk"],
        "second": theme["secondaryBackgroundColor"],
    }
    inks = {name: of[name] for name in ("ink", "soft", "accent", "gold", "good", "warn", "bad")}
    inks |= {"text": theme["textColor"], "link": theme["linkColor"]}
    pairs = {f"{ink} on {ground}": (inks[ink], grounds[ground]) for ink, ground in product(inks, grounds)}
    pairs |= {f"{tone} on its own": (of[tone], of[f"{tone}-bg"]) for tone in ("good", "warn", "bad")}
    pairs |= {"ink on what is marked": (of["ink"], of["mark"]), "ink on the band": (of["ink"], of["warn-bg"])}
    pairs |= {
        "a button's words": ("#ffffff", theme["primaryColor"]),
        "a citation that is open": (("#ffffff", "#14181a")[night], of["gold"]),
    }
    pairs |= {"code": (theme["codeTextColor"], theme["codeBackgroundColor"])}
    assert pale(pairs, TEXT) == []


@pytest.mark.parametrize("night", [0, 1], ids=NAMES)
def test_what_is_drawn_stands_out(night: int) -> None:
    ground, of = THEME[NAMES[night]]["backgroundColor"], {name: pair[night] for name, pair in TOKENS.items()}
    drawn = {name: colours[night] for name, _, colours, _ in page_graph.NODE_KINDS} | {
        "curve": confidence_chart.ACCENT[night],
        "goal": confidence_chart.GOLD[night],
    }
    drawn |= {"the focus": of["accent"], "a meter": of["good"], "failed": of["bad"], "stopped": of["gold"]}
    fill, line, ink, now_fill, now_line, under = flow_diagram.COLOURS[bool(night)]
    assert under == ground
    assert (
        pale(
            {name: (colour, ground) for name, colour in drawn.items()}
            | {"way": (line, fill), "now": (now_line, now_fill)},
            DRAWN,
        )
        == []
    )
    assert pale({"passed": (ink, fill), "at work": (ink, now_fill)}, TEXT) == []


def test_no_colour_is_written_outside_the_tokens() -> None:
    for sheet in sorted((ROOT / "pages" / "widgets").rglob("*.css")):
        rules = re.sub(r"--[\w-]+:[^;]+;", "", sheet.read_text(encoding="utf-8"))
        loose = set(re.findall(r"#[0-9a-fA-F]{6}\b", re.sub(r"light-dark\([^)]*\)", "", rules)))
        assert loose == set(), f"{sheet.name} names {loose}: give it a light and a dark one"
