"""The routes of the library: search it, add a document."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from agent.engine.snapshots import CACHE_SIZE
from agent.http.programs import Caller
from agent.library.collection import MAX_TAG_CHARS
from agent.types import LibrarySearchResult, LibrarySource

ROUTER = APIRouter(tags=["library"])


@ROUTER.get("/library/search")
def search_library(
    q: Annotated[str, Query(description="what to look for")],
    program: Caller,
    k: Annotated[int, Query(ge=1, le=CACHE_SIZE, description="passages at most")] = CACHE_SIZE,
) -> LibrarySearchResult:
    """The passages of all pages that were read and documents that were added, the most relevant first."""
    program.require("library")
    return program.bench.library.search(q, k)


@ROUTER.post(
    "/library/documents",
    status_code=HTTPStatus.CREATED,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def add_document(
    name: Annotated[str, Query(min_length=1, description="its file name, such as report.pdf")],
    request: Request,
    program: Caller,
) -> LibrarySource:
    """Add a document, the body as it is, or replace its namesake. It is tagged with the program's name."""
    program.require("library")
    data, tags = await request.body(), [f"by program {program.token.name}"[:MAX_TAG_CHARS]]
    return await run_in_threadpool(program.bench.library.add_file, name, data, tags=tags)
