"""Small PDFs that cost a reader much more than they weigh."""

from __future__ import annotations

import zlib


def raw_pdf(*objects: bytes) -> bytes:
    """A PDF of these objects, numbered from 1; the first is the catalogue."""
    body, places = b"%PDF-1.7\n", []
    for number, held in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, held)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return body + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer <</Size %d /Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
        % (len(objects) + 1, table, len(objects) + 1, len(body))
    )


def stream(content: bytes, entries: bytes = b"") -> bytes:
    packed = zlib.compress(content, 9)
    return b"<</Length %d /Filter /FlateDecode %s>>\nstream\n%s\nendstream" % (len(packed), entries, packed)


def pdf_with_page(content: bytes, *more: bytes, resources: bytes = b"") -> bytes:
    font = b"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>"
    return raw_pdf(
        b"<</Type /Catalog /Pages 2 0 R>>",
        b"<</Type /Pages /Kids [3 0 R] /Count 1>>",
        b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources <</Font <</F 5 0 R>> %s>>>>"
        % resources,
        stream(content),
        font,
        *more,
    )


def pdf_of_lines(count: int) -> bytes:
    """A small file with very many lines of text: what took the former reader minutes."""
    return pdf_with_page(b"BT /F 10 Tf 12 TL 50 700 Td " + b"(a tide) Tj T* " * count + b"ET")


def pdf_of_forms(depth: int) -> bytes:
    """Forms that each draw the next one ten times."""
    first = 6
    forms = [
        stream(
            b"/X Do " * 10 if n < depth - 1 else b"BT /F 9 Tf (tide) Tj ET",
            b"/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources <</Font <</F 5 0 R>> /XObject <</X %d 0 R>>>>"
            % (first + n + 1),
        )
        for n in range(depth)
    ]
    return pdf_with_page(b"/X Do", *forms, resources=b"/XObject <</X 6 0 R>>")
