"""Records for tests: only what a test is about is given."""

from __future__ import annotations

from enum import Enum
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from agent.types import Record

R = TypeVar("R", bound=Record)


def fill(kind: type[R], /, **given: Any) -> R:
    """A record of this kind; a field that has no default and is not given is empty."""
    missing = {
        name: _empty(field.annotation)
        for name, field in kind.model_fields.items()
        if field.is_required() and name not in given
    }
    return kind(**missing, **given)


def _empty(shape: Any) -> Any:
    choices = get_args(shape)
    if get_origin(shape) in (Union, UnionType):
        return None if type(None) in choices else _empty(choices[0])
    if get_origin(shape) is Literal:
        return "code" if "code" in choices else choices[0]
    if isinstance(shape, type) and issubclass(shape, Enum):
        return next(iter(shape))
    if isinstance(shape, type) and issubclass(shape, Record):
        return fill(shape)
    return (get_origin(shape) or shape)()
