"""Pages of mail archives: one message with its header block (From, Subject, Date), told by its form.

Two forms are known, whatever the archive's program or language: lines of "label: value", one with a date and
one with a sender; or a line that is a date with the time of day beside a line with a mail address."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent.types.collection import Post
from agent.web.extract.page_dates import find_date
from agent.web.extract.text_lines import LinkedText, TextLine, read_lines
from agent.web.patterns import compile_any, read_lists

MAX_LINES_BEFORE = 25
"""Lines of a page among which its header block begins: navigation and the title stand before it."""
MIN_DATE_SHARE = 0.5
"""The share of a value or line that a date makes up."""
MAX_LABEL_CHARACTERS = 30
MAX_NAME_CHARACTERS = 60
_FIELD = re.compile(r"(?P<label>[^\W\d][\w .’'-]{0,28}?)\s*(?::(?:\s*\|)?|\s\|)\s*(?P<value>\S.*)")
_ADDRESS = re.compile(
    r"<?\b[\w.+-]+\s?(?:@|\bat\b|\[at\]|\(at\)|_at_|&#64;)\s?[\w-]+(?:\.|\s(?:dot|punkt)\s)[\w.-]+>?",
    re.IGNORECASE,
)
_SENDER = compile_any([rf"^(?:{'|'.join(read_lists('forum')['sender'])})$"])
_SIGNATURE = re.compile(r"\n-- ?\n")


def find_message(text: str, linked: LinkedText, today: str) -> Post | None:
    """The message that a page consists of, with its offsets in the page's text; None when it is none."""
    lines = (
        list(_join_labels(list(read_lines(text))[:MAX_LINES_BEFORE]))
        + list(read_lines(text))[MAX_LINES_BEFORE:]
    )
    found = _read_fields(lines, today) or _read_unlabelled(lines, today)
    if found is None:
        return None
    user, day, first = found
    body = _find_body(lines[first:], linked)
    if not body:
        return None
    start, end = body[0].start, body[-1].end
    cut = _SIGNATURE.search(text, start, end)
    end = cut.start() if cut and cut.start() > start else end
    return Post(
        n=1,
        user=user,
        date=day,
        text=text[start:end].rstrip(),
        start=start,
        end=start + len(text[start:end].rstrip()),
    )


def _join_labels(lines: Sequence[TextLine]) -> Iterator[TextLine]:
    """The lines, a label and its value in one where they stand below each other (a list of terms)."""
    label: TextLine | None = None
    for line in lines:
        if label:
            yield TextLine(label.start, line.end, f"{label.text} {line.text}")
            label = None
        elif line.text.endswith(":") and len(line.text) <= MAX_LABEL_CHARACTERS:
            label = line
        else:
            yield line
    if label:
        yield label


def _read_fields(lines: Sequence[TextLine], today: str) -> tuple[str, str, int] | None:
    """Sender, date and the number of the first line behind a block of labelled lines."""
    at = 0
    while at < min(len(lines), MAX_LINES_BEFORE):
        end = at
        while (
            end < len(lines) and (field := _FIELD.fullmatch(lines[end].text)) and not field["label"].isspace()
        ):
            end += 1
        fields = [
            match.group("label", "value") for line in lines[at:end] if (match := _FIELD.fullmatch(line.text))
        ]
        days = [day for _, value in fields if (day := _whole_date(value, today))]
        senders = [value for label, value in fields if _SENDER.match(label.strip())]
        senders += [value for _, value in fields if _ADDRESS.search(value) and not senders]
        if len(fields) > 1 and days and senders:
            return _read_name(senders[0]), days[0], end
        at = max(end, at + 1)
    return None


def _read_unlabelled(lines: Sequence[TextLine], today: str) -> tuple[str, str, int] | None:
    """The same where a line with a name and a mail address stands beside one that is a date with the time."""
    for at, line in enumerate(lines[: MAX_LINES_BEFORE - 1]):
        for one, two in ((line, lines[at + 1]), (lines[at + 1], line)) if at + 1 < len(lines) else ():
            day = _whole_date(two.text, today)
            if "T" in day and _ADDRESS.search(one.text) and len(one.text) <= 2 * MAX_NAME_CHARACTERS:
                return _read_name(one.text), day, at + 2
    return None


def _whole_date(value: str, today: str) -> str:
    """The date that a value consists of (weekday and time zone may stand beside it); "" for none."""
    found = find_date(value, today) if len(value) <= 80 else None
    if found is None or not found.has_year or found.end - found.start < MIN_DATE_SHARE * len(value):
        return ""
    return found.iso


def _read_name(value: str) -> str:
    """The sender's name without the address; the address where there is no name."""
    name = _ADDRESS.sub(" ", value).strip(" \t\"'<>()[],;:")
    return " ".join((name or value).split())[:MAX_NAME_CHARACTERS]


def _find_body(lines: Sequence[TextLine], linked: LinkedText) -> Sequence[TextLine]:
    """The lines of the message: up to the navigation behind it, without that before it. A label above links,
    and a short line between two lines of links ("Previous message: none"), are navigation, too."""
    links = [linked.is_navigation(line.text) for line in lines]
    for n in range(len(lines) - 2, -1, -1):
        is_between = n > 0 and links[n - 1] and len(lines[n].text) <= MAX_LABEL_CHARACTERS
        links[n] = links[n] or (links[n + 1] and (is_between or lines[n].text.endswith(":")))
    first = next((n for n, is_link in enumerate(links) if not is_link), len(lines))
    end = next((n for n in range(first, len(lines)) if links[n]), len(lines))
    return lines[first:end]
