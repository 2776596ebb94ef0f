"""A presentation (PPTX): each slide's title as a heading, its texts, tables and notes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE
from pptx.exc import PythonPptxError

from agent.web.extract.extraction import Extraction
from agent.web.extract.formats import archive
from agent.web.extract.writer import DocumentWriter

KIND = archive.ArchiveKind(
    "presentation", max_xml=64_000_000, errors=(*archive.PARSER_ERRORS, PythonPptxError)
)
_MAX_DEPTH = 20


@KIND.reader
def extract_slides(_packed: zipfile.ZipFile, data: bytes) -> Extraction:
    """The slides' text."""
    presentation: Any = Presentation(io.BytesIO(data))
    writer = DocumentWriter()
    has_text = False
    for number, slide in enumerate(presentation.slides, start=1):
        if slide._element.get("show") == "0":  # hidden
            continue
        title = slide.shapes.title
        head = _one_line(title.text_frame.text) if title is not None else ""
        writer.write_heading(head or f"Slide {number}", 2)
        before = writer.length
        for shape in _walk_shapes(slide.shapes):
            if title is None or shape.shape_id != title.shape_id:
                if getattr(shape, "has_table", False):
                    writer.write_table([[cell.text for cell in row.cells] for row in shape.table.rows])
                elif shape.has_text_frame:
                    texts = [_one_line(paragraph.text) for paragraph in shape.text_frame.paragraphs]
                    texts = [text for text in texts if text]
                    for text in texts:
                        writer.write_block(text, "item" if len(texts) > 1 else "paragraph")
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            writer.write_block(slide.notes_slide.notes_text_frame.text.strip())
        has_text = has_text or bool(head) or writer.length > before
    if not has_text:
        return KIND.refuse("empty")
    about = presentation.core_properties
    created = about.modified or about.created
    return writer.finish(
        title=_one_line(about.title or ""),
        author=_one_line(about.author or ""),
        published_at=f"{created:%Y-%m-%d}" if created else "",
    )


def _walk_shapes(shapes: Any, depth: int = 0) -> Iterator[Any]:
    """The shapes of a slide with those inside groups."""
    for shape in shapes:
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP and depth < _MAX_DEPTH:
            yield from _walk_shapes(shape.shapes, depth + 1)
        else:
            yield shape


def _one_line(text: str) -> str:
    return " ".join(text.split())
