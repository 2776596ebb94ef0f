"""What a round brings to a research run: facts, leads, conflicts and a new confidence. Search results become
leads by rule; the analyzer reads the passages that fit best, of all pages in one call as far as its token
budget reaches; the rules of evidence decide what counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from agent.answering import fact_view
from agent.answering.draft import build_fact_from_quote, has_page_quote
from agent.answering.fact_view import add_facts, open_conflicts, read_rulings
from agent.answering.pages import mark_read
from agent.answering.revision import current_reading, list_wishes
from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.evidence.quote_match import split_at_ellipsis
from agent.evidence.sources import join_groups
from agent.flows.research import policy
from agent.flows.research.policy import describe_reading, find_known_url, find_secrets
from agent.flows.research.state import SEARCH_PREFIX, Observation, ResearchRun
from agent.retrieval import shown_passages
from agent.retrieval.answer import Quotation, find_best_lines
from agent.retrieval.link_scoring import lead_id, make_hit_leads, make_page_leads, merge_leads, rank_links
from agent.retrieval.passages import split_passages
from agent.retrieval.scorer import fuse_rankings, rank_passages
from agent.roles.research import ANALYZER, AnalyzerReply, ExtractedFact, ShownPage, join_replies
from agent.roles.role import RoleResult
from agent.text.plurals import clip
from agent.text.urls import canonicalize, find_urls, is_excluded
from agent.types import Fact, Lead, Outcome, Page, PageRef, Passage, Refusal, SearchHit, SearchResult
from agent.web.prompt_injection import find_injected_links

MAX_MERGED_HITS = 20
"""Results that are kept of one query: those of two engines, ten each."""
MAX_QUERY_LEADS, MAX_LEAD_CHARS = 6, 200
"""Names and topics to search for that are kept of one reply, and characters of a lead's text."""
PICKED = 0.3
"""The score of a lead that only the analyzer proposes, and what its choice adds to that of any other."""
MAX_PASSAGES, MAX_QUOTES = 10, 6
"""Passages of a page that are read without a model, and quotes that are kept of it for each thing asked."""
PAGE_TOKENS, READING_TOKENS = 1_000, 8_000
"""Tokens of a page in a call on the average, as much as the whole page shows; and of all page text in one: a
round of four pages, and room for those that a person supplies."""
READING_SHARE = 0.5
"""The part of a small model's room that pages get; the rest is for what is known, their links and tags."""
MAX_LINKS = 24
"""Links that a call lists, over all its pages; fewer where the page text has less than READING_TOKENS."""
MAX_UNREAD_LEADS = 5
"""Pages read in part that a decision is offered."""


@dataclass
class OpenPage:
    """A page that is read now: what was chosen of it, and what its record will say."""

    ref: PageRef
    page_id: str
    page: Page
    """Without the links of passages that give orders to machines."""
    part: str = ""
    queries: list[str] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    """All its passages."""
    reading: ShownPage = field(default_factory=lambda: ShownPage(url=""))
    _quotes: dict[str, bool] = field(default_factory=dict)

    def has_quote(self, quote: str) -> bool:
        """Whether its text holds this quote, in whatever spelling; looked for once."""
        if quote not in self._quotes:
            self._quotes[quote] = has_page_quote(self.page, quote)
        return self._quotes[quote]


def analyze(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Turn what the round brought into facts, leads and a confidence. Search results become leads, those of
    one query by several engines as one list; nothing is ever quoted from them."""
    by_query, pages = dict[str, list[list[SearchHit]]](), list[OpenPage]()
    if not (found := [] if state.own.is_analyzed else state.own.brought):
        return {}, "decide"
    for item in found:
        if item.hits:
            by_query.setdefault(item.source.removeprefix(SEARCH_PREFIX), []).append(item.hits)
    hit_leads = list[Lead]()
    for query, rankings in by_query.items():
        hits = merge_results(rankings, MAX_MERGED_HITS)
        result = SearchResult(engine="", query=query, outcome=Outcome.OK, hits=hits, detail="")
        hit_leads += make_hit_leads(state.full_question, result, tools.step)
    leads = merge_leads(state.own.leads, hit_leads)
    for item in found:
        pages += [open_page(state, tools, item)] if item.page_id else []
    if not pages:
        return {"leads": leads, **add_facts(state, tools.step, []), "is_analyzed": True}, "decide"
    state = state_after(state, {"leads": leads})
    tools.side_by_side.fetch_ahead(policy.choose_pages_ahead(state), policy.MAX_ROUND_ACTIONS)
    groups = choose_readings(state, tools, pages)
    replies = tools.judge_side_by_side([partial(_read_group, state, tools, group) for group in groups])
    facts, answer, cited = dict[str, Fact](), state.answer, {*state.facts} if not state.answer else set[str]()
    for said in answer.sentences if answer else ():
        cited.update(said.fact_ids)
    values, problems, withheld, verified = list[Any](), list[str](), 0, Counter[str]()
    for judged, made in replies:
        values.append(judged.value)
        problems += judged.problems
        withheld += judged.withheld
        for fact in made:
            old = state.facts.get(fact.id)
            if old is None:
                facts.setdefault(fact.id, fact)
            elif old.id not in cited and fact.part not in ("", old.part):
                facts[old.id] = old.replace(part=fact.part)  # read again for a note: it may answer that part
    for fact in facts.values():
        verified[fact.page_id] += fact.verified
    judgement = replies[0][0].replace(value=join_replies(values), problems=problems, withheld=withheld)
    change: Change = {"actions": [], "is_analyzed": True}
    change["pages"], onward = _collect_leads(state, tools, judgement, pages, list(facts.values()))
    why = "text of this page was withheld from the model: it contains the mark of the run's fences"
    refused, opened = list[Refusal](), {done.page_id: done for done in state.actions if not done.is_search}
    for page in pages:
        refused += page.refused
        refused += [Refusal(what=page.page.url, why=why)] if withheld else []
        if not page.ref.waiting and page.page_id in opened:  # none brought a page that a person supplied
            change["actions"].append(opened[page.page_id].replace(new_facts=verified[page.page_id]))
    refused += _refuse_unknown(state, judgement.value, pages)
    change["refusals"] = [refusal.replace(step=tools.step) for refusal in refused]
    change["leads"] = [*leads, *onward]
    return {**change, **_assess(state, tools, judgement, list(facts.values()))}, "decide"


def merge_results(rankings: Sequence[Sequence[SearchHit]], max_results: int) -> list[SearchHit]:
    """The hits of several searches as one list, best first by reciprocal rank fusion. Hits with one address
    or one DOI are one: the first, completed by what the others know."""
    same, merged, found = dict[str, set[str]](), dict[str, SearchHit](), list[list[str]]()
    for hit in chain.from_iterable(rankings):
        if hit.publication and hit.publication.doi:
            join_groups(same, f"doi:{hit.publication.doi}", canonicalize(hit.url) or hit.url)
    for ranking in rankings:
        found.append([])
        for hit in ranking:
            address = canonicalize(hit.url) or hit.url
            key = min(same.get(address, {address}))
            found[-1] += [] if key in found[-1] else [key]
            if (first := merged.setdefault(key, hit)) is not hit:
                work = first.publication.complete(hit.publication) if first.publication else hit.publication
                merged[key] = first.replace(
                    title=first.title or hit.title,
                    snippet=first.snippet or hit.snippet,
                    published_at=first.published_at or hit.published_at,
                    engine=", ".join(dict.fromkeys([*first.engine.split(", "), hit.engine])),
                    publication=work,
                )
    best = fuse_rankings(found)[:max_results]
    return [merged[key].replace(rank=n) for n, (key, _) in enumerate(best, start=1)]


def open_page(state: ResearchRun, tools: RunContext, item: Observation) -> OpenPage:
    """A stored page of the run with what it is read for."""
    page, ref, part = tools.page(item.page_id), state.pages[item.source], ""
    if injected := find_injected_links(page.text, page.links):
        page = page.replace(links=[link for link in page.links if link not in injected])
    answered, others = policy.list_answered_parts(state), list[str]()
    for one in state.plan:
        part = one.question if one.id == item.part else part
        others += [] if one.id in answered else [one.question]
    query = ref.found_on.removeprefix(SEARCH_PREFIX) if ref.found_on.startswith(SEARCH_PREFIX) else ""
    general = [] if ref.shown and others else [query, find_topic(state)]  # its rest is for what is open
    why = "Blocked: suspected prompt injection"
    return OpenPage(
        ref=ref.replace(length=len(page.text)),
        page_id=item.page_id,
        page=page,
        part=item.part,
        queries=list(dict.fromkeys(filter(None, [part, *general, *others]))),
        refused=[Refusal(what=link.url, why=why) for link in injected],
        passages=split_passages(page, item.page_id),
    )


def find_topic(state: ResearchRun) -> str:
    """The question and the public notes: what links are weighed by."""
    return " ".join([state.full_question, *fact_view.note_texts(state, public=True)])


def choose_readings(
    state: ResearchRun, tools: RunContext, pages: Sequence[OpenPage]
) -> Iterator[list[OpenPage]]:
    """The pages in groups of one call each, with the passages and links that it shows: of each page the best
    by what it is read for. Without a model: the best for the whole question, best first."""
    budget = min(READING_TOKENS, int(tools.find_room(ANALYZER) * READING_SHARE))
    links, most = max(1, MAX_LINKS * budget // READING_TOKENS), max(1, budget // PAGE_TOKENS)
    notes = [*fact_view.note_texts(state), *list_wishes(state)[:1]]
    asked, visited = " ".join([state.full_question, *notes]), fact_view.visited_urls(state)
    reading = current_reading(state)
    wishes = reading.searches if reading else []
    for at in range(0, len(pages), most):
        group, queries, chosen = list(pages[at : at + most]), list(wishes), dict[str, list[Passage]]()
        if tools.client:
            for page in group:
                queries += [*page.queries, *notes[-1:]]
            chosen = shown_passages.choose_passages(
                list(dict.fromkeys(queries)),
                {page.page_id: page.page for page in group},
                tokens=min(PAGE_TOKENS, budget),
                shown={page.page_id: page.ref.shown for page in group},
                first={page.page_id: (wishes or page.queries)[0] for page in group if wishes or page.queries},
                before={page.page_id: page.ref.shown_before for page in group},
            )
        for page in group:
            text = page.page.text
            if tools.client:
                passages = shown_passages.join_adjacent(chosen[page.page_id], text)
            else:
                passages = rank_passages(asked, page.passages, MAX_PASSAGES)
            unread = shown_passages.split_unread(page.passages, page.ref.shown, ())[0]
            new = [link for link in page.page.links if canonicalize(link.url) not in visited]
            page.reading = ShownPage(
                url=page.page.final_url or page.page.url,
                title=page.page.title,
                part=page.part,
                passages=passages,
                links=rank_links(find_topic(state), new, text, limit=max(1, links // len(group))),
                unread=len(unread) - len(chosen.get(page.page_id, passages)),
            )
        yield group


def _read_group(
    state: ResearchRun, tools: RunContext, group: Sequence[OpenPage]
) -> tuple[RoleResult, list[Fact]]:
    """The analyzer's report on some pages, with those facts of a refused one whose quotes are good, and the
    ids of its new facts in the place of their numbers; and its facts, each checked against the page that it
    quotes. Without a model the lines that fit best what is asked."""
    judged = RoleResult(value=AnalyzerReply(), by="keyless")
    if tools.has_model:

        def check(reply: AnalyzerReply) -> list[str]:
            unknown = [f"{refusal.what}: {refusal.why}" for refusal in _refuse_unknown(state, reply, group)]
            return [*find_quote_problems(reply, group), *unknown]

        judged = tools.judge(
            ANALYZER,
            check=check,
            question=state.full_question,
            notes=fact_view.note_texts(state, public=True),
            wishes=list_wishes(state)[:3],
            pages=[page.reading for page in group],
            parts=state.plan,
            conflicts=open_conflicts(state),
            reading=describe_reading(state),
            **policy.choose_known_facts(state),
        )
    items = [*judged.value.facts, *([] if tools.has_model else quote_pages(state, group))]
    quotes = {item.quote for item in items}
    for item in judged.earlier.facts if judged.earlier else ():
        items += [item] if item.quote not in quotes and _find_quoted_page(item, group)[1] else []
    facts, names = list[Fact](), dict[str, str]()
    for n, item in enumerate(items, start=1):
        page, _ = _find_quoted_page(item, group)
        quotation = Quotation(page.page_id, item.quote, item.statement.strip(), item.subject)
        fact = build_fact_from_quote(state.full_question, tools, page.page, quotation, by=judged.by)
        above = [passage.above for passage in page.reading.passages if item.quote in passage.text]
        facts.append(fact.replace(attribute=item.attribute, part=item.part, heading=[*above, ""][0]))
        names[f"n{n}"] = fact.id
    sides = [names.get(name.strip("[] ").lower(), name) for name in judged.value.inconsistent_fact_ids]
    value = judged.value.model_copy(update={"facts": items, "inconsistent_fact_ids": sides})
    return judged.replace(value=value), facts


def _find_quoted_page(item: ExtractedFact, group: Sequence[OpenPage]) -> tuple[OpenPage, bool]:
    """The page that a fact is of, and whether it has its quote: that of the passage it names, if the quote is
    there, else the first of the others with it, else the page it names, or the first."""
    named = group[0]
    for page in reversed(group):
        for passage in page.reading.passages:
            named = page if passage.id == item.passage_id else named
    for page in (named, *group):
        if page.has_quote(item.quote):
            return page, True
    return named, False


def find_quote_problems(reply: AnalyzerReply, group: Sequence[OpenPage]) -> list[str]:
    """What the analyzer is told of its quotes that are on no page of the round: why, and what to do."""
    problems = list[str]()
    for item in reply.facts:
        if _find_quoted_page(item, group)[1]:
            continue
        parts, why = split_at_ellipsis(item.quote), "is on none of the pages: copy it character by character"
        if any(item.quote in page.page.text for page in group):
            why = "is cut inside a word, a number or a negation: "
            why += "copy the whole sentence, as it is spelled there"
        elif parts and any(all(map(page.has_quote, parts)) for page in group):
            why = "joins by … what may not be joined: "
            why += "copy all between them, too, or make each a fact of its own"
        problems.append(f"The quote “{clip(item.quote)}” {why}.")
    return problems


def _refuse_unknown(state: ResearchRun, reply: AnalyzerReply, pages: Sequence[OpenPage]) -> list[Refusal]:
    """A refusal for each address of the analyzer that is on none of these pages and not known to the run."""
    known, refused = {canonicalize(link.url) for page in pages for link in page.page.links}, list[Refusal]()
    for url in reply.new_potential_urls:
        if canonicalize(url) not in known and not find_known_url(state, url):
            why = "the analyzer named an address that does not occur on any page or result of this run"
            refused.append(Refusal(what=url, why=why))
    return refused


def _collect_leads(
    state: ResearchRun,
    tools: RunContext,
    judgement: RoleResult,
    pages: Sequence[OpenPage],
    facts: Sequence[Fact],
) -> tuple[list[PageRef], list[Lead]]:
    """The pages as they are recorded, and where they lead: by rule, by the links that a model picked, which
    come before the others, and by the names and topics that it wants to search for."""
    reply: AnalyzerReply = judgement.value
    picked = {*map(canonicalize, reply.new_potential_urls)}
    shared: Any = {"score": PICKED, "prior": PICKED, "step": tools.step}
    refs, leads, found_on = list[PageRef](), list[Lead](), ""
    for page in pages:
        own, found_on = [fact for fact in facts if fact.page_id == page.page_id], page.page.url
        found = {lead.id: lead for lead in make_page_leads(find_topic(state), page.page, own, tools.step)}
        for link in page.page.links:
            name = lead_id("url", link.url)
            if canonicalize(link.url) in picked and name not in found:
                text, why = (link.text or link.url)[:MAX_LEAD_CHARS], "the analyzer picked it"
                found[name] = Lead(
                    id=name, kind="url", value=link.url, text=text, why=why, found_on=found_on, **shared
                )
        shown = page.ref.shown
        if judgement.by == "model":
            shown = shown_passages.add_spans(
                shown, [(passage.start, passage.end) for passage in page.reading.passages]
            )
        onward = [lead.value for lead in found.values() if lead.kind == "url"]
        count = page.ref.facts + len(own)
        refs.append(mark_read(page.ref, page.page, facts=count, links=onward, shown=shown))
        leads += found.values()
    for topic in reply.leads[:MAX_QUERY_LEADS]:
        if topic.strip() and not find_urls(topic) and not find_secrets(state, topic):
            value, why = topic[:MAX_LEAD_CHARS], "the analyzer names it"
            name, more = lead_id("query", value), {**shared, "text": value, "found_on": found_on}
            leads.append(Lead(id=name, kind="query", value=value, why=why, **more))
    visited, new = fact_view.visited_urls(state), list[Lead]()
    for lead in merge_leads(state.own.leads, leads):
        if (spelled := canonicalize(lead.value)) not in visited:
            bonus = PICKED if spelled in picked else 0.0
            new.append(lead.replace(score=min(1.0, lead.score + bonus), prior=min(1.0, lead.prior + bonus)))
    return refs, new


def _assess(state: ResearchRun, tools: RunContext, judgement: RoleResult, new: list[Fact]) -> Change:
    """The facts, a model's word on the whole and its conflicts, and the report as stored, facts counted."""
    reply: AnalyzerReply = judgement.value
    report = {
        **reply.model_dump(mode="json", exclude={"facts", "leads", "inconsistent_fact_ids"}),
        "extracted_info": {"facts": len(reply.facts), "leads": reply.leads},
        "by": judgement.by,
        "trouble": judgement.failure or " ".join(judgement.problems),
    }
    if judgement.by != "model":
        return {"report": report, **add_facts(state, tools.step, new)}
    answered, unanswered, sides = list[str](), list[str](), list[str]()
    for part in state.plan:
        (answered if part.id in reply.answered_parts else unanswered).append(part.id)
    for name in dict.fromkeys(reply.inconsistent_fact_ids):
        sides += [name] if name in state.facts or name in [fact.id for fact in new] else []
    report["answered_parts"] = answered
    change = add_facts(
        state,
        tools.step,
        new,
        model=reply.confidence_score,
        unanswered=unanswered,
        sides=sides if len(sides) > 1 else [],
    )
    rulings = read_rulings(open_conflicts(state), reply.conflicts, tools.step)
    return {"report": report, "reported_at": tools.step, **change, "rulings": rulings}


def find_unread_pages(state: ResearchRun, tools: RunContext) -> list[Lead]:
    """The pages read in part that may help an open part or the newest notes, best first, with the reason."""
    excluded, owner, passages = fact_view.excluded_sites(state), dict[str, PageRef](), list[Passage]()
    reread = set[str]()
    for ref in state.pages.values():
        if ref.page_id and policy.has_unread_text(ref) and not is_excluded(ref.url, excluded):
            own = split_passages(tools.page(ref.page_id), ref.page_id)
            new, old = shown_passages.split_unread(own, ref.shown, ref.shown_before)
            passages += new or old
            owner |= dict.fromkeys([passage.id for passage in new or old], ref)
            reread |= {ref.url} if old and not new else set()
    answered = policy.list_answered_parts(state)
    asked = {f"part {part.id}": part.question for part in state.plan if part.id not in answered}
    if (reading := current_reading(state)) and reading.needs_research:
        asked["note"] = reading.understood or " ".join(fact_view.note_texts(state)[-1:])
    found: dict[str, Lead] = {}
    for name, question in asked.items():
        for best in rank_passages(question, passages, len(passages)):
            ref = owner[best.id]
            if best.score > (found[ref.url].score if ref.url in found else 0.0):
                line = next((q.quote for q in find_best_lines(question, [best], 1)), best.text)
                found[ref.url] = Lead(
                    id=lead_id("url", ref.url),
                    kind="url",
                    value=ref.url,
                    text=ref.title,
                    why=f"{name}{', shown before it' * (ref.url in reread)}: {line[:100]}",
                    score=best.score,
                    prior=0.0,
                    found_on="",
                    step=0,
                )
    return sorted(found.values(), key=lambda lead: -lead.score)[:MAX_UNREAD_LEADS]


def list_asked(state: ResearchRun) -> list[str]:
    """What is looked for without a model: the newest public note, the question, the parts of a made plan."""
    parts = [part.question for part in state.plan_parts]
    return list(dict.fromkeys([*fact_view.note_texts(state, public=True)[-1:], state.full_question, *parts]))


def quote_pages(state: ResearchRun, pages: Sequence[OpenPage]) -> list[ExtractedFact]:
    """Of each page the lines that fit best what is asked."""
    found = dict[tuple[str, str], ExtractedFact]()
    for page in pages:
        for text in list_asked(state):
            for said in find_best_lines(text, page.reading.passages, MAX_QUOTES):
                if page.has_quote(said.quote):
                    about = {"quote": said.quote, "statement": said.statement, "subject": said.subject}
                    fact = ExtractedFact(passage_id=said.passage_id, **about)
                    found.setdefault((page.page_id, said.quote), fact)
    return list(found.values())
