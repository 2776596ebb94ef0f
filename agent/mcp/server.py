"""The MCP server on the server's own port (`/mcp`, streamable HTTP without sessions) and over standard input
and output (`./touchstone mcp`).

Over HTTP each request carries a token (RFC 6750); where to get one is told by the metadata of RFC 9728. No
token is passed on to any engine or model. The SDK is imported in the background: no screen waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from importlib import import_module

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from agent.accounts.people import LOCAL
from agent.accounts.tokens import SCOPES, ApiToken
from agent.bot.routes import PROGRAMS
from agent.errors import TouchstoneError
from agent.http.programs import Program, identify_program
from agent.workbench import Workbench
from agent.workbenches import Workbenches


class McpHttp:
    """The routes of `/mcp` for the server of the screens, whose lifespan runs `serve` as a task; the endpoint
    of the first, as an ASGI app."""

    def __init__(self, open_benches: Callable[[], Workbenches]) -> None:
        self._open_benches = open_benches
        self._app: ASGIApp | None = None
        self._is_ready = asyncio.Event()
        metadata = "/.well-known/oauth-protected-resource"
        self.routes: list[BaseRoute] = [
            Route("/mcp", endpoint=self, methods=[*PROGRAMS.methods]),
            Route(metadata, self._tell_metadata),
            Route(f"{metadata}/mcp", self._tell_metadata),
        ]

    async def serve(self) -> None:
        """Answer requests until the task is cancelled."""
        self._app, running = await asyncio.to_thread(self._build)
        async with running:
            self._is_ready.set()
            await asyncio.Event().wait()

    def _build(self) -> tuple[ASGIApp, AbstractAsyncContextManager[None]]:
        from mcp.server.transport_security import TransportSecuritySettings  # slow to import

        server = import_module("agent.mcp.tools").build_server(
            lambda context: identify_program(
                self._open_benches(), context.request_context.request.headers.get("authorization", "")
            )
        )
        app = server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            # names and origins are checked by the gate before every route
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        route = next(route for route in app.routes if isinstance(route, Route))
        return route.app, server.session_manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request with a token that holds; 401 to any other before anything of it is read."""
        request = Request(scope)
        scheme, _, text = request.headers.get("authorization", "").partition(" ")
        given = text.strip() if scheme.lower() == "bearer" else ""
        benches = await asyncio.to_thread(self._open_benches)
        try:
            found = await asyncio.to_thread(benches.find_program, given)
        except TouchstoneError as trouble:
            await _tell_trouble(trouble)(scope, receive, send)
            return
        if found:
            await self._is_ready.wait()
            assert self._app is not None
            await self._app(scope, receive, send)
            return
        base = benches.find_address(str(request.base_url))
        where = f'Bearer resource_metadata="{base}/.well-known/oauth-protected-resource/mcp"'
        why = "send a token that holds and was made here or issued for here: authorization: Bearer …"
        told = {"error": "invalid_token", "error_description": why}
        await JSONResponse(told, HTTPStatus.UNAUTHORIZED, {"www-authenticate": where})(scope, receive, send)

    def _tell_metadata(self, request: Request) -> JSONResponse:
        """What a client has to know to get a token (RFC 9728)."""
        benches = self._open_benches()
        provider = benches.accounts and benches.accounts.provider
        try:
            servers = {"authorization_servers": [provider.read_issuer()]} if provider else {}
        except TouchstoneError as trouble:
            return _tell_trouble(trouble)
        told = {
            "resource": f"{benches.find_address(str(request.base_url))}/mcp",
            **servers,
            "resource_name": "Touchstone",
            "scopes_supported": list(SCOPES),
            "bearer_methods_supported": ["header"],
        }
        return JSONResponse(told)


def _tell_trouble(trouble: TouchstoneError) -> JSONResponse:
    told = {"error": "temporarily_unavailable", "error_description": str(trouble)}
    return JSONResponse(told, HTTPStatus.SERVICE_UNAVAILABLE)


def serve_stdio(bench: Workbench) -> None:
    """Serve the tools over standard input and output, for whoever runs this process, until the input ends. It
    has every scope but `decide`: what is decided there is decided by a person, on the screen."""
    scopes = tuple(scope for scope in SCOPES if scope != "decide")
    token = ApiToken("stdio", LOCAL.id, "MCP", scopes, "", "", "")
    program = Program(token, bench, lambda: True)
    import_module("agent.mcp.tools").build_server(lambda _ctx: program).run("stdio")
