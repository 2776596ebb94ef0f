"""What the project is built from: every requirement is pinned with hashes, and named with its licence and as a component.
After a change of the requirements: `make supply`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
_PINNED = re.compile(r"^([A-Za-z0-9][\w.-]*)==(\S+)")


def requirements(name: str) -> dict[str, Requirement]:
    """The requirements of a file and those it includes, by their normal names."""
    found = {}
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        text = line.partition("#")[0].strip()
        if text.startswith("-r "):
            found |= requirements(text[3:].strip())
        elif text:
            found[canonicalize_name(Requirement(text).name)] = Requirement(text)
    return found


def pinned(name: str) -> dict[str, set[str]]:
    """The versions that a lock file pins (several where they differ by platform)."""
    found: dict[str, set[str]] = {}
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        if match := _PINNED.match(line):
            found.setdefault(canonicalize_name(match[1]), set()).add(match[2])
    return found


@pytest.mark.parametrize("name", ["requirements", "requirements-cluster", "requirements-dev"])
def test_every_requirement_is_pinned_within_its_range(name: str) -> None:
    locked = pinned(f"{name}.lock")
    asked = requirements(f"{name}.txt")
    assert len(asked) > 40 and set(asked) <= set(locked)
    outside = {one for one, wanted in asked.items() if not all(map(wanted.specifier.contains, locked[one]))}
    assert not outside, "run `make supply`"


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-cluster.lock", "requirements-dev.lock"])
def test_every_pinned_package_has_hashes_and_no_host_is_named(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[A-Za-z0-9])", text[text.index("\n", text.index("make supply")) + 1 :])
    assert len(entries) > 80 and all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text and "--index" not in text and "--find-links" not in text


@pytest.mark.parametrize("name", ["requirements-cluster.lock", "requirements-dev.lock"])
def test_the_other_locks_hold_the_versions_the_program_runs_on(name: str) -> None:
    other, own = pinned(name), pinned("requirements.lock")
    assert {name: versions for name, versions in own.items() if other[name] != versions} == {}


def test_licences_and_components_name_every_package_the_program_runs_on() -> None:
    locked, asked = pinned("requirements-cluster.lock"), requirements("requirements-cluster.txt")
    rows = re.findall(
        r"^\| (\S+) \| (\S+) \| (.+?) \|", (ROOT / "docs" / "licences.md").read_text("utf-8"), re.MULTILINE
    )
    licences = {canonicalize_name(name): (version, licence) for name, version, licence in rows}
    sbom = json.loads((ROOT / "docs" / "sbom.json").read_text(encoding="utf-8"))
    components = {canonicalize_name(one["name"]): one["version"] for one in sbom["components"]}
    assert set(asked) <= set(licences) and set(asked) <= set(components), "run `make supply`"
    assert {
        name
        for name in asked
        if licences[name][0] not in locked[name] or components[name] not in locked[name]
    } == set()
    assert not [name for name, (_, licence) in licences.items() if licence in ("", "UNKNOWN")]
    assert sbom["bomFormat"] == "CycloneDX" and set(components) <= set(licences) | {"touchstone"}
