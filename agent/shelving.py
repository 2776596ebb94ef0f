"""How a page comes to stand in the library: split into passages, its words made into terms, put in place of what was there before.

It knows pages, terms and the shelf; not where a page came from and not what anybody looks for.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.config import ROOT
from agent.errors import NotFound, StoreError, UsageError
from agent.store.database import Store
from agent.store.holdings import Entry, Piece, Shelved
from agent.store.ledger import now
from agent.store.pages import row_of
from agent.store.words import Row
from agent.text.describe import describe
from agent.text.facilities import facilities
from agent.text.passages import passages
from agent.text.sections import with_headings
from agent.text.words import fold, stems
from agent.types import LibrarySource, Page, Passage, Refused
from agent.types.holdings import Kind
from agent.urls import canonical, host

DEMO = "demo"
"""The tag of pages of the demo world: nothing in them is true. Their hosts end in a name that is reserved and belongs to nobody."""
LONGEST_HEADING = 500
LONGEST_TEXT = 5_000_000
"""Characters of a text that can be searched; the rest can only be read."""
TOGETHER = 400
"""Passages that are put in one transaction, a whole source at least: others wait for the store meanwhile (a tenth of a second)."""
AT_ONCE = 50
"""Sources of the bin that go in one transaction."""
TRIES = 5
BY_HAND = "was added to the library by hand: rename the file in the folder, or remove that document and empty the bin"
IN_FOLDER = "is a file of the folder the library is kept current with: change it there, or give this one another name"
PAGE_MARK = re.compile(r"Page \d+")
"""What a PDF's reader writes above each page; alone it is no passage."""
_SAMPLE = "The runners' houses 1,234.5 naïve Größe Привет мир Αθήνα 東京都庁 서울 ภาษาไทย العربية हिन्दी"


@dataclass(frozen=True)
class Ask:
    """A page that is to become the text of a source. `restore`: out of the bin, too; `origin` and `mark`: the folder it is kept current
    with and how its file looked, None: as it was."""

    page: Page
    source_id: str
    kind: Kind = "page"
    tags: Sequence[str] = ()
    restore: bool = True
    origin: str | None = None
    mark: str = ""


class Shelving:
    """Puts pages on the shelf of a store. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self.store, self.shelf = store, store.shelf
        self.by = hashlib.sha256(terms(_SAMPLE).encode()).hexdigest()[:12]
        """How terms are made, as a fingerprint: when it changes, the index of words is made anew."""
        self._checked = False
        self._lock = threading.Lock()
        self._calm = threading.Lock()
        """Held while sources are put, so that what was overtaken once is prepared and put with no other thread in between."""

    def check(self) -> None:
        """Begin the index of words anew when its terms were made in another way (an update of the words or a stemmer)."""
        with self._lock:
            if not self._checked and self.shelf.mark("words") != self.by:
                self.shelf.forget_words(self.by)
            self._checked = True

    def put(self, asks: Iterable[Ask], refused: list[Refused] | None = None) -> list[LibrarySource]:
        """Each ask's page, stored if it is not yet, as the text of its source; many in one transaction, which costs much less than one
        each. Tags are added to those there are, and a description somebody wrote stays while the text does.

        What a folder keeps is not replaced from elsewhere, nor the other way: that is told in `refused`, else a UsageError.
        """
        self.check()
        put: list[LibrarySource | Refused] = []
        batch: dict[str, tuple[Ask, Entry]] = {}
        for ask in asks:
            if ask.source_id in batch or sum(len(entry.pieces) for _, entry in batch.values()) >= TOGETHER:
                put += self._together(batch)
                batch = {}
            entry = self._entry(ask)
            if isinstance(entry, Entry):
                batch[ask.source_id] = (ask, entry)
            else:
                put.append(entry)
        put += self._together(batch)
        no = [one for one in put if isinstance(one, Refused)]
        if no and refused is None:
            raise UsageError(no[0].why)
        (refused if refused is not None else []).extend(no)
        return [one for one in put if isinstance(one, LibrarySource)]

    def _together(self, batch: dict[str, tuple[Ask, Entry]]) -> list[LibrarySource | Refused]:
        """Put what was prepared; what others changed meanwhile is prepared again, alone."""
        with self._calm:
            overtaken = self.shelf.put([entry for _, entry in batch.values()]) if batch else set()
        return [self._alone(ask) if source_id in overtaken else entry.source for source_id, (ask, entry) in batch.items()]

    def _alone(self, ask: Ask) -> LibrarySource | Refused:
        with self._calm:
            for _ in range(TRIES):
                entry = self._entry(ask)
                if not isinstance(entry, Entry):
                    return entry
                if not self.shelf.put([entry]):
                    return entry.source
        raise StoreError(f"{ask.source_id} is being changed by others all the time; try again")

    def drop(self, until: str) -> int:
        """Do away with what was put into the bin until then (see Shelf.binned); returns how many sources went."""
        self.check()
        gone, went = self.shelf.binned(until), 0
        for n in range(0, len(gone), AT_ONCE):
            went += self.shelf.drop([(held, self._words(held)) for held in gone[n : n + AT_ONCE]])
        return went

    def take_up(self, page_ids: Sequence[str]) -> None:
        """Put pages that flows stored on the shelf, those excepted whose source already holds something newer."""
        asks: list[Ask] = []
        for page_id in page_ids:
            try:
                page = self.store.pages.get(page_id)
            except NotFound:
                continue
            if not page.text.strip():
                continue
            if holders := [held.source for held in self.shelf.of_page(page_id)]:
                asks += [Ask(page, source.source_id, kind=source.kind, restore=False) for source in holders]
            elif not self._has_newer(page):
                asks.append(Ask(page, named(page), kind="page" if canonical(page.final_url or page.url) else "file", restore=False))
        self.put(asks, refused=[])
        self.shelf.passed(page_ids)

    def _has_newer(self, page: Page) -> bool:
        held = self.shelf.get(named(page))
        return held is not None and held.source.fetched_at > page.fetched_at

    def _entry(self, ask: Ask) -> Entry | LibrarySource | Refused:
        """What is to be put; the source itself when it already holds this text (its time and tags are brought up to date)."""
        page, row = ask.page, row_of(ask.page)
        former = self.shelf.get(ask.source_id)
        if former and (why := _kept_by_another(former, ask, same=former.source.page_id == row["id"])):
            return Refused(name=ask.source_id.partition(":")[2], why=why)
        if former and former.source.page_id == row["id"] and former.words == self.by and not former.source.gone_at:
            return self._again(former, ask)
        source, pieces = self._made(ask, str(row["id"]), former.source if former else None)
        left = former and former.source.gone_at and ask.restore  # its file is gone, and somebody adds it by hand
        kept = (former.origin, former.mark) if former and ask.origin is None and not left else (ask.origin or "", ask.mark)
        found, skipped = facilities(page, ask.source_id)
        if found and skipped:
            source.detail = f"{source.detail} {skipped} of {skipped + len(found)} rows have no usable name or coordinates.".strip()
        own: dict[str, str | int] = {"words": self.by, "folded": _folded(source), "places": len(found), "origin": kept[0], "mark": kept[1]}
        return Entry(source, pieces, row, own, former=former, gone=self._words(former) if former else [])

    def _again(self, former: Shelved, ask: Ask) -> LibrarySource:
        """The same text once more: only when it was read, its tags, and that it is there."""
        source = former.source
        values = {"fetched_at": max(source.fetched_at, ask.page.fetched_at)}
        if ask.restore and source.deleted_at:
            values["deleted_at"] = ""
        if ask.origin is not None:
            values |= {"origin": ask.origin, "mark": ask.mark}
        changed = {name: value for name, value in values.items() if getattr(source, name, None) != value}
        if changed:
            self.shelf.set(source.source_id, **changed)
        if new := sorted(set(ask.tags) - set(source.tags)):
            self.shelf.tag(source.source_id, new)
        self.shelf.passed([source.page_id])
        shown = {name: value for name, value in values.items() if name in LibrarySource.model_fields}
        return source.model_copy(update={**shown, "tags": sorted({*source.tags, *ask.tags})})

    def _made(self, ask: Ask, page_id: str, old: LibrarySource | None) -> tuple[LibrarySource, list[Piece]]:
        """The source and its pieces."""
        page = ask.page
        split = passages(with_headings(page), page_id, longest=LONGEST_TEXT)
        split = [passage for passage in split if not PAGE_MARK.fullmatch(passage.text.strip())] or split
        pieces = [_piece(n, passage, page.title) for n, passage in enumerate(split)]
        written = old is not None and old.described_by != "keyless" and old.page_id == page_id
        binned = old.deleted_at if old and not ask.restore else ""
        source = LibrarySource(
            source_id=ask.source_id, kind=old.kind if old and ask.kind == "page" else ask.kind, title=page.title, url=page.final_url or page.url,
            page_id=page_id, sha256=page.sha256, description=old.description if old and written else describe(page),
            described_by=old.described_by if old and written else "keyless", added_at=old.added_at if old else now(),
            fetched_at=page.fetched_at or now(), passages=len(pieces), detail=_detail(page), deleted_at=binned,
            tags=sorted({*(old.tags if old else []), *ask.tags, *_demo(page)}),
        )  # fmt: skip
        return source, pieces

    def _words(self, former: Shelved) -> list[Row]:
        """The rows of the index that are to be taken out: made as they were made when they were put in."""
        if former.words != self.by:
            return []
        text, title = self.store.pages.get(former.source.page_id).text, former.source.title
        held = self.shelf.pieces(former.row)
        return [(row, terms(f"{title}\n{piece.heading}"), terms(text[piece.start : piece.end])) for row, piece in held]


def terms(text: str) -> str:
    """The terms of a text, joined by blanks: what the index of words holds."""
    return " ".join(stems(text))


def named(page: Page) -> str:
    """The source id of a page: `kb:` and its address, or its file's name."""
    address = page.final_url or page.url
    return f"kb:{canonical(address) or address.removeprefix('file:')}"


def _kept_by_another(former: Shelved, ask: Ask, *, same: bool) -> str:
    """Why this must not take the place of what is there: a folder keeps that, or a person added it; "" when it may."""
    if ask.origin is not None and not former.origin:
        return f"{ask.source_id} {BY_HAND}"
    if ask.origin is None and former.origin and not former.source.gone_at and not same:
        return f"{ask.source_id} {IN_FOLDER}"
    return ""


def invented(path: Path) -> list[str]:
    """The tag of a file that lies in the project's own folder of the demo."""
    return [DEMO] if path.resolve().is_relative_to((ROOT / DEMO).resolve()) else []


def _piece(n: int, passage: Passage, title: str) -> Piece:
    heading = passage.heading[:LONGEST_HEADING]
    return Piece(
        n=n, start=passage.start, end=passage.end, heading=heading, rows=passage.rows, head=terms(f"{title}\n{heading}"), body=terms(passage.text)
    )


def _detail(page: Page) -> str:
    longer = f"Only its first {LONGEST_TEXT:,} characters can be searched." if len(page.text) > LONGEST_TEXT else ""
    return " ".join(part for part in (page.detail, longer) if part)


def _demo(page: Page) -> list[str]:
    return [DEMO] if host(page.final_url or page.url).endswith(".example") else []


def _folded(source: LibrarySource) -> str:
    return fold(f"{source.title}\n{source.source_id}\n{source.url}\n{source.description}")
