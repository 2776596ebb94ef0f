"""The blanks of a role's prompt file."""

from __future__ import annotations

from pathlib import Path

from agent.roles import prompt_templates


def find_blanks(role: str, folder: Path = prompt_templates.FOLDER) -> set[str]:
    """The names a role's prompt wants filled in. PromptError when the file is missing or no template."""
    return set(prompt_templates._compile(role, prompt_templates._read_source(role, folder))[2])
