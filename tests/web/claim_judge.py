"""What a scripted model says in the roles that check a write-up: the judge of its claims, and their repair."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Judging = Callable[[str, list[str]], bool]
"""(statement, quotes) -> whether they support it."""
CHECKING_SHAPES = ("CheckClaimsReply", "RepairReply")
ALWAYS: Judging = lambda statement, quotes: True  # noqa: E731
NEVER: Judging = lambda statement, quotes: False  # noqa: E731


def unfence(text: str, kind: str) -> list[str]:
    """The texts fenced as `kind`."""
    return [body.strip() for _, body in re.findall(rf"<{kind}-(\w+)>\n(.*?)\n</{kind}-\1>", text, re.DOTALL)]


def read_quotes(prompt: str) -> dict[str, str]:
    """The quotes that a judge is shown, by their ids, with their sources."""
    return {i: text.strip() for i, text in re.findall(r"^Quote (q\d+): (.*)$", prompt, re.MULTILINE)}


def check_reply(
    prompt: str, shape: str, judge: Judging = ALWAYS, repairs: Mapping[int, str] | None = None
) -> dict[str, Any]:
    """The reply of the judge, or of the repair (new text by sentence number), to its prompt."""
    if shape == "RepairReply":
        return {"sentences": [{"n": n, "text": new, "quotes": ["q1"]} for n, new in (repairs or {}).items()]}
    parts = re.split(r"^Statement (\d+):", prompt, flags=re.MULTILINE)
    quotes = read_quotes(prompt)
    claims = []
    for n, part in zip(parts[1::2], parts[2::2], strict=True):
        above = re.search(r"^Cites (.*), shown above", part, re.MULTILINE)
        cited = [*(above[1].split(", ") if above else []), *read_quotes(part)]
        supported = judge(part.splitlines()[0].strip(), [quotes[i] for i in cited])
        said = {"quote": cited[0] if cited else "", "reason": "so it reads", "supported": supported}
        claims.append({"n": int(n), **said})
    return {"claims": claims}
