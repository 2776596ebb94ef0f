"""The app below `/api/v1`: who asks, the errors of all routes, the contract and a page that tells it.

    Mount("/api/v1", app=make_app(open_benches))

An error is a problem in the form of RFC 9457 whose `detail` says what to do next."""

from __future__ import annotations

import html
import logging
from collections.abc import Callable
from functools import cache
from http import HTTPStatus
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Match

from agent.bot.http import RequestRefused
from agent.errors import ConcurrentChange, NotFound, TouchstoneError, UsageError
from agent.http import batches, library, runs, schedules, webhooks
from agent.http.programs import NotPossible, check_body, identify_program
from agent.workbenches import Workbenches

log = logging.getLogger(__name__)
_ABOUT = " ".join(
    (
        "What a person does on the screens, for programs. Each request bears a token, on this machine too.",
        "A run is started, waited for with `wait` or watched as events, and asks back what it needs to know.",
        "An error is a problem (RFC 9457); its `detail` says what to do next.",
    )
)


def make_app(open_benches: Callable[[], Workbenches]) -> FastAPI:
    """The app. `open_benches` gives the workbenches of the server, at the first request."""
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    told = {"description": "A problem; `detail` says what to do next.", "content": problem}
    refusals = "BAD_REQUEST UNAUTHORIZED FORBIDDEN NOT_FOUND CONFLICT REQUEST_ENTITY_TOO_LARGE"
    refusals += " UNPROCESSABLE_ENTITY TOO_MANY_REQUESTS SERVICE_UNAVAILABLE"
    app = FastAPI(
        title="Touchstone",
        version="1",
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        generate_unique_id_function=lambda route: route.name,
        responses={str(int(HTTPStatus[name])): told for name in refusals.split()},
        dependencies=[Depends(check_body)],
        redirect_slashes=False,
    )
    app.state.identify = lambda authorization: identify_program(open_benches(), authorization)
    for part in (runs, library, batches, schedules, webhooks):
        app.include_router(part.ROUTER)
    handlers = (
        (TouchstoneError, tell_refusal),
        (RequestValidationError, tell_fault),
        (HTTPException, tell_status),
    )
    for kind, handler in handlers:
        app.add_exception_handler(kind, handler)  # type: ignore[arg-type]
    contract = app.state.contract = cache(lambda: _make_contract(app))  # .3 s: once it is asked
    app.add_route("/openapi.json", lambda _request: JSONResponse(contract()), include_in_schema=False)
    app.add_route("/docs", lambda _request: HTMLResponse(render_page(contract())), include_in_schema=False)
    return app


def make_problem(status: HTTPStatus, detail: str, retry_after: int = 0, **more: Any) -> Response:
    """The answer that tells of a problem."""
    headers = {"www-authenticate": "Bearer"} if status is HTTPStatus.UNAUTHORIZED else {}
    if retry_after:
        headers["retry-after"] = str(retry_after)
    body = {"type": "about:blank", "title": status.phrase, "status": int(status), "detail": detail, **more}
    return JSONResponse(body, int(status), headers, "application/problem+json")


async def tell_refusal(_request: Request, refused: TouchstoneError) -> Response:
    """What was not possible, in its own words."""
    if isinstance(refused, NotPossible):
        return make_problem(refused.status, str(refused), possible=refused.possible)
    if isinstance(refused, RequestRefused):
        return make_problem(refused.status, str(refused), refused.retry_after)
    kinds = {NotFound: HTTPStatus.NOT_FOUND, ConcurrentChange: HTTPStatus.CONFLICT}
    kinds |= {UsageError: HTTPStatus.BAD_REQUEST}
    status = next((s for kind, s in kinds.items() if isinstance(refused, kind)), None)
    if status is None:
        log.error("a program cannot be answered: %s", refused)
    return make_problem(status or HTTPStatus.SERVICE_UNAVAILABLE, str(refused))


async def tell_fault(_request: Request, wrong: RequestValidationError) -> Response:
    """What is wrong with a request, without its values."""
    told = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in wrong.errors())
    return make_problem(HTTPStatus.UNPROCESSABLE_ENTITY, "; ".join(told))


async def tell_status(request: Request, refused: HTTPException) -> Response:
    """No such route or method, or a body that is too large."""
    status = HTTPStatus(refused.status_code)
    said = "" if refused.detail == status.phrase else f"{refused.detail} "
    answer = make_problem(status, f"{said}See /api/v1/docs for what there is.")
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        routes = iter_route_contexts(request.app.routes)
        here = [one for one in routes if one.original_route.matches(request.scope)[0] is not Match.NONE]
        answer.headers["allow"] = ", ".join(sorted({name for one in here for name in one.methods or ()}))
    return answer


def _make_contract(app: FastAPI) -> dict[str, Any]:
    """The contract as OpenAPI 3.1."""
    made: dict[str, Any] = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        servers=[{"url": "/api/v1"}],
    )
    text = {"type": "string"}
    problem: dict[str, Any] = {"type": text, "title": text, "status": {"type": "integer"}, "detail": text}
    problem["possible"] = {"type": "array", "items": text, "description": "the acts that are possible now"}
    needed = ["type", "title", "status", "detail"]
    made["components"]["schemas"]["Problem"] = {"type": "object", "properties": problem, "required": needed}
    return made


def render_page(contract: dict[str, Any]) -> str:
    """The contract as one page that loads nothing."""
    told = [
        f"<h1>{contract['info']['title']}, for programs</h1><p>{html.escape(contract['info']['description'])}"
    ]
    told.append(" The contract: <a href='openapi.json'>openapi.json</a>.</p>")
    for path, methods in contract["paths"].items():
        for method, route in methods.items():
            said = html.escape(route.get("description", route["summary"]))
            told.append(f"<h2><code>{method.upper()} /api/v1{html.escape(path)}</code></h2><p>{said}</p>")
            given = [(p["name"], p["schema"], p.get("description", "")) for p in route.get("parameters", ())]
            for kind in route.get("requestBody", {}).get("content", {}).values():
                name = str(kind["schema"].get("$ref", "")).rpartition("/")[2]
                known = contract["components"]["schemas"].get(name, {}).get("properties", {})
                given += [(key, shape, shape.get("description", "")) for key, shape in known.items()]
            rows = "".join(
                f"<li><code>{html.escape(name)}</code> {shape.get('type', '')} {html.escape(said)}</li>"
                for name, shape, said in given
            )
            told.append(f"<ul>{rows}</ul>" if rows else "")
    style = "body{font:1rem/1.5 sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}h2{font-size:1rem}"
    head = f"<meta charset='utf-8'><title>Touchstone for programs</title><style>{style}</style>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(told)}</body></html>"
