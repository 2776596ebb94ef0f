"""The YAML file that CONFIG_FILE names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent.errors import UsageError

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_CONFIG_FILE = "config.yaml"
"""The one file that may be missing although CONFIG_FILE names it."""


def read_config_file(name: str) -> tuple[dict[str, Any], Path | None]:
    """The content of a YAML file (relative: below the checkout) and its path; {} and None when `name` is
    empty or the default file is missing. Raises UsageError when it cannot be read."""
    import yaml  # 20 ms that most starts save

    path = (ROOT / Path(name).expanduser()).resolve()
    if not name or (not path.is_file() and path == ROOT / DEFAULT_CONFIG_FILE):
        return {}, None
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"{path} cannot be read: {reason}; CONFIG_FILE names it") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it cannot be parsed"
        raise UsageError(f"{path}{where}: this is not YAML ({problem})") from error
    if not isinstance(content, dict | None):
        raise UsageError(
            f"{path}: the file must hold sections (ai_response, kb) or settings, each with its keys"
        )
    return content or {}, path
