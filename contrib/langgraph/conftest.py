"""The tests here get what every test of the project gets: a folder of their own, and no way out."""

from tests.conftest import _fresh, _own_environment, _quick_databases

__all__ = ["_fresh", "_own_environment", "_quick_databases"]
