"""Heavy libraries are imported by the function that uses them, not at the start."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agent.settings.config import ROOT

pytestmark = pytest.mark.slow

HEAVY = (
    "altair bs4 dateparser dateutil ddgs docx googleapiclient html5lib httplib2 httpx2 jinja2 mammoth "
    "markdown_it networkx numpy openai pandas prometheus_client publicsuffixlist pptx py3langid pypdfium2 python_calamine streamlit striprtf tqdm yaml"
).split()
"""What the workbench must not import at its start."""


def imported(code: str) -> set[str]:
    """The top-level modules in memory after this code, in a process of its own."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys\n{code}\nprint(*{{name.partition('.')[0] for name in sys.modules}})",
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("module", ["agent.workbench", "agent.cli.ask", "agent.cli.runs"])
def test_the_workbench_imports_no_heavy_library(module):
    assert not imported(f"import {module}") & set(HEAVY)


def test_help_imports_neither_the_workbench_nor_its_libraries():
    code = "from agent.cli.main import main\nassert main(['--help']) == 0\nassert 'agent.workbench' not in sys.modules"
    assert not imported(code) & {*HEAVY, "sqlalchemy", "pydantic", "requests", "lxml", "selectolax"}


def test_flows_and_exports_wait_until_they_are_needed():
    late = "('agent.flows.research', 'agent.actions.export')"
    imported(f"import agent.workbench\nassert not [name for name in {late} if name in sys.modules]")
