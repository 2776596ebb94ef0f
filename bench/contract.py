"""Tries the contract of the API with schemathesis against a workbench that is served:

    python -m bench.contract [--examples 40] [--phases examples,coverage,fuzzing,stateful] [--json FILE]

Each operation gets valid and invalid requests about a run that has its answer and a batch, in the demo world without a model, so that nothing is asked of another host. Asked: no answer with
5xx, and no deviation from the contract (a status, type or form that it does not promise, an invalid request that is
taken, a valid one that is called invalid, a method that `Allow` does not name, an answer without a token). 400
is promised for what fits the contract and cannot be done all the same, such as a text with nothing to check. Unknown
headers and parameters of an address are passed over, as HTTP says."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2

from agent.accounts.accounts import Accounts
from agent.accounts.people import LOCAL
from agent.accounts.tokens import SCOPES
from agent.settings.config import read_config
from bench import make_parser, write_figures
from tests.browser.served import Served

ASKED = {
    "question": "On what date did the Stenfors bridge reopen to traffic?",
    "settings": {"world": "demo", "model": "keyless"},
}
KNOWN = """
[parameters]
"path.run_id" = "{run}"
"path.batch_id" = "{batch}"
"query.wait" = 0
"header.idempotency-key" = ""

[generation]
allow-extra-parameters = false

[checks.positive_data_acceptance]
expected-statuses = ["2xx", 400, 401, 403, 404, 409, 429]
"""


def main() -> int:
    """Serve, ask, count; returns the exit code."""
    parser = make_parser(__doc__)
    parser.add_argument("--examples", default="40", help="generated requests to an operation, at most")
    parser.add_argument("--phases", default="examples,coverage,fuzzing,stateful", help="of schemathesis")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with closing(Accounts(read_config({"TOUCHSTONE_DATA": str(data)}))) as accounts:
            _, token = accounts.tokens.create(LOCAL, "contract", list(SCOPES))
        server = Served(data, API_RATE="0", MODEL="keyless", FETCH_ALLOW="127.0.0.1").start()
        try:
            figures = _try_contract(server.url, token, Path(folder), asked.examples, asked.phases)
        finally:
            server.stop()
    for name, count in figures.items():
        print(f"{name}: {count}")
    write_figures(asked.json, figures)
    return int(bool(figures["server errors"] or figures["deviations"]))


def _try_contract(url: str, token: str, folder: Path, examples: str, phases: str) -> dict[str, Any]:
    """What schemathesis counts; its own report goes to standard error."""
    sent = {"authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=f"{url}api/v1", headers=sent, timeout=60) as http:
        run = http.post("/runs", json=ASKED).json()["id"]
        http.get(f"/runs/{run}", params={"wait": 25})
        table = {"table": "question\nWhere?\n", "settings": ASKED["settings"]}
        batch = http.post("/batches", json=table).json()["id"]
    (folder / "schemathesis.toml").write_text(KNOWN.format(run=run, batch=batch))
    command = [str(Path(sys.executable).with_name("schemathesis"))]
    command += ["--config-file", str(folder / "schemathesis.toml"), "run", f"{url}api/v1/openapi.json"]
    command += ["--header", f"Authorization: Bearer {token}", "--phases", phases, "--max-examples", examples]
    command += ["--continue-on-failure", "--generation-deterministic", "--request-timeout", "60"]
    command += ["--report", "json", "--report-json-path", str(folder / "report.json")]
    subprocess.run(command, cwd=folder, stdout=sys.stderr, check=False)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    kinds = [failure["type"] for failure in report["failures"]]
    errors = sum("server" in kind.lower() for kind in kinds)
    return {
        "operations": report["operations"]["tested"],
        "requests": report["test_cases"]["generated"],
        "server errors": errors,
        "deviations": len(kinds) - errors + len(report["errors"]),
    }


if __name__ == "__main__":
    sys.exit(main())
