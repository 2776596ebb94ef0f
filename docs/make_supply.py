"""Writes what the project is built from: requirements.lock, requirements-cluster.lock and
requirements-dev.lock (every package with its hashes, for Python 3.11 to 3.13), docs/licences.md and
docs/sbom.json (CycloneDX) of the packages it runs on, with a cluster.

Usage: make supply. The tools stand in requirements-supply.txt; what they look at is installed from the
lock, with its hashes, into a fresh virtual environment. Needs the package index."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
WORK = ROOT / ".supply"
PACKAGE_INDEX = ".org/project/"
"""What the addresses of a package on the index have in common."""
HEADER = """# Licences

Every package that the program runs on, as `requirements-cluster.lock` pins it (those of `requirements.lock`,
and what PostgreSQL as the store needs beyond), with the licence that its author states (`make supply`).
The program itself is under the Apache License 2.0. What the tests need on top is not shipped and not listed.

"""
COMPILE = "--universal --python-version 3.11 --generate-hashes --no-annotate"  # uv names no index by itself


def run(*command: str | Path) -> str:
    """The output of a command, which must succeed."""
    return subprocess.run(
        list(map(str, command)), cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def make_environment(name: str, *requirements: str) -> Path:
    """A fresh virtual environment with these; returns its folder of programs."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", *requirements)
    return folder / "bin"


def write_lock(uv: Path, requirements: str, lock: str) -> None:
    """Pin every package of a requirements file, with hashes."""
    command = (
        f"UV_CUSTOM_COMPILE_COMMAND='make supply' {uv} pip compile {requirements} {COMPILE} --quiet -o {lock}"
    )
    subprocess.run(["sh", "-c", command], cwd=ROOT, check=True)


def write_licences(tools: Path, packages: Path) -> None:
    """docs/licences.md."""
    listed = json.loads(
        run(
            tools / "pip-licenses",
            f"--python={packages / 'python'}",
            "--format=json",
            "--from=mixed",
            "--with-urls",
        )
    )
    lines = ["| package | version | licence | home |", "|---|---|---|---|"]
    for one in sorted(listed, key=lambda one: one["Name"].lower()):
        licence = " ".join(one["License"].split()).replace("|", "/")
        home = one["URL"] if one["URL"].startswith("http") else ""
        lines.append(f"| {one['Name']} | {one['Version']} | {licence[:120]} | {home} |")
    (ROOT / "docs" / "licences.md").write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")


def write_sbom(tools: Path, packages: Path) -> None:
    """docs/sbom.json."""
    target = WORK / "sbom.json"
    run(tools / "cyclonedx-py", "environment", "--output-reproducible", "-o", target, packages / "python")
    found = json.loads(target.read_text(encoding="utf-8"))
    found["components"] = [one for one in found["components"] if one["name"] not in ("pip", "setuptools")]
    found["metadata"].pop("tools", None)
    for one in found["components"]:  # where the source is, not where a copy of the package is
        links = [link for link in one.get("externalReferences", []) if link["type"] in ("vcs", "website")]
        one["externalReferences"] = [link for link in links if PACKAGE_INDEX not in link["url"]]
    kept = {one["bom-ref"] for one in found["components"]}
    found["dependencies"] = [one for one in found.get("dependencies", []) if one["ref"] in kept]
    (ROOT / "docs" / "sbom.json").write_text(
        json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8"
    )


def main() -> int:
    """Write all five files."""
    tools = make_environment("tools", "-r", "requirements-supply.txt")
    write_lock(tools / "uv", "requirements.txt", "requirements.lock")
    write_lock(tools / "uv", "requirements-cluster.txt", "requirements-cluster.lock")
    write_lock(tools / "uv", "requirements-dev.txt", "requirements-dev.lock")
    packages = make_environment("packages", "--require-hashes", "-r", "requirements-cluster.lock")
    write_licences(tools, packages)
    write_sbom(tools, packages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
