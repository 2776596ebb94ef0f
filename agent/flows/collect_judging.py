"""What is done with a page that was read: a decision, made again where it must be and used again where it may be, then checked.

The strong model decides. Code does where nothing is left to decide: the same text was decided on before; a listing's next page;
a page behind an entry of a listing that is plainly a thread or an article. Each decision says who made it.
"""

from __future__ import annotations

import re

from agent.flows import collect_log
from agent.flows.collect_page import Sight, look, reachable
from agent.flows.collect_state import Collect
from agent.flows.collect_walk import decided, objection, towards
from agent.roles.page_decision import PAGE_DECISION
from agent.roles.role import Judgement
from agent.state import Change
from agent.toolbox import Tools
from agent.types.collected import Act, Branch, Offer, PageType
from agent.urls import canonical

WINDOW = 8_000
"""Characters of a page that the decision is shown."""
LINKS_SHOWN = 60
PLAIN_WORDS = 50
"""Words from which a page that states it is an article needs no decision."""
ROUTE = {"EXTRACT_CONTENT": "gather", "EXTRACT_LINKS": "links", "NAVIGATE_TO": "decide", "STOP": "decide"}


def judge(state: Collect, tools: Tools) -> tuple[Change, str]:
    """Decide about the page at hand, and check what was decided."""
    if not state.settings.collect.use_smart_navigation:
        return {}, "judge_plainly"
    branch = state.tree[state.here]
    sight = look(state, tools, branch)
    branch = _known(state, branch) or _plain(state, branch, sight) or decided(branch, _asked(state, tools, branch, sight))
    objected = objection(state, branch, sight)
    refusal = objected.refusal if objected else None
    ended = objected.why if objected else (branch.reasoning or "Nothing here is wanted.") if branch.action == "STOP" else ""
    branch = branch.model_copy(update={"ended": ended, "held": objected.held if objected else ""})
    events = [collect_log.decision(tools, branch), *([collect_log.stopped(tools, branch, ended, refused=refusal is not None)] if ended else [])]
    change: Change = {"tree": [branch], "events": events, "refusals": [refusal.model_copy(update={"step": tools.step})] if refusal else []}
    if ended:
        return change, "decide"
    if branch.action == "NAVIGATE_TO":
        onward = towards(branch, sight)
        change["tree"] = [branch, onward]
        change["pages"] = [state.pages[branch.url].model_copy(update={"links": [onward.url]})]
    return change, ROUTE[branch.action or "STOP"]


def judged_plainly(state: Collect, tools: Tools) -> tuple[Change, str]:
    """The plain way: every link of a start page is opened up front, and every page is taken as an article."""
    branch = state.tree[state.here]
    told = "The plain way: each page is taken as an article" + (", and all links of the start pages are followed." if not branch.depth else ".")
    branch = branch.model_copy(update={"action": "EXTRACT_CONTENT", "page_type": "article", "reasoning": told, "confidence": 1.0, "by": "code"})
    opened = []
    if not branch.depth:
        fresh = [offer for offer in reachable(state, look(state, tools, branch)) if canonical(offer.url) not in state.tree]
        deep = state.settings.collect.max_depth > 1
        branch = branch.model_copy(update={"held": "depth" if fresh and not deep else ""})
        opened = [] if not deep else [
            Branch(id=canonical(offer.url), url=offer.url, parent=branch.id, anchor=offer.text, depth=1, path=[*branch.path, n])
            for n, offer in enumerate(fresh)
        ]
    return {"tree": [branch, *opened], "events": [collect_log.decision(tools, branch)]}, "gather"


def _known(state: Collect, branch: Branch) -> Branch | None:
    """The decision about a page with the very same text, used again."""
    twin = next((other for other in state.tree.values() if other.sha256 == branch.sha256 and other.action and other.id != branch.id), None)
    if twin is None:
        return None
    return branch.model_copy(
        update={
            "action": twin.action, "page_type": twin.page_type, "confidence": twin.confidence, "target_url": twin.target_url, "by": "code",
            "same_as": twin.url, "reasoning": f"The same text as {twin.url}: that decision is used again. {twin.reasoning}",
        }
    )  # fmt: skip


def _plain(state: Collect, branch: Branch, sight: Sight) -> Branch | None:
    """What needs no judgement: the next page of what was decided, or plain content behind a listing's entry."""
    above = state.tree.get(branch.parent)
    if above is None:
        return None
    if branch.continues == "thread":
        return _by_code(branch, "EXTRACT_CONTENT", above.page_type, "The next page of the thread.")
    if branch.continues == "listing" and not sight.posts:
        return _by_code(branch, "EXTRACT_LINKS", above.page_type, "The next page of the listing.")
    if above.action != "EXTRACT_LINKS":
        return None
    if len(sight.posts) > 1:
        return _by_code(
            branch, "EXTRACT_CONTENT", "forum_thread", f"An entry of the list, and {len(sight.posts)} posts with writer and date stand here."
        )
    if sight.signs.article and sight.signs.words >= PLAIN_WORDS:
        return _by_code(branch, "EXTRACT_CONTENT", "article", "An entry of the list, and the page states that it is an article.")
    return None


def _by_code(branch: Branch, action: Act, page_type: PageType, told: str) -> Branch:
    return branch.model_copy(update={"action": action, "page_type": page_type, "reasoning": told, "confidence": 0.95, "by": "code"})


def _asked(state: Collect, tools: Tools, branch: Branch, sight: Sight) -> Judgement:
    return tools.judge(
        PAGE_DECISION, intent=state.wanted, url=branch.url, depth=branch.depth, max_depth=state.settings.collect.max_depth, title=sight.page.title,
        signs=sight.signs, links=_shown(reachable(state, sight), state.wanted.target_section), text=sight.page.text[:WINDOW],
    )  # fmt: skip


def _shown(offers: list[Offer], section: str) -> list[Offer]:
    """The links shown: those that speak of the section first, then those of the content, in the page's order."""
    spoken = re.compile("|".join(map(re.escape, section.split())) or r"(?!)", re.IGNORECASE)
    return sorted(offers, key=lambda offer: (not spoken.search(f"{offer.text} {offer.url}"), not offer.content))[:LINKS_SHOWN]
