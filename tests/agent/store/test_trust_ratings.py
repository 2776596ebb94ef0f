"""A person's word on a domain outlives the store's opening, and an older store gets the table."""

from __future__ import annotations

from agent.store import migrations
from agent.store.database import Store
from agent.types import TrustRating


def rating(domain: str, value: float, reason: str = "") -> TrustRating:
    return TrustRating(domain=domain, value=value, reason=reason, at="2026-01-01T00:00:00Z")


def test_one_word_a_domain(tmp_path):
    url = f"sqlite:///{tmp_path / 't.db'}"
    store = Store(url)
    store.trust_ratings.put("two.example", rating("two.example", 0.3, "first"))
    store.trust_ratings.put("two.example", rating("two.example", 0.0, "second"))
    store.close()
    again = Store(url)
    assert [(one.value, one.reason, bool(one.at)) for one in again.trust_ratings.all().values()] == [
        (0.0, "second", True)
    ]
    assert (
        again.trust_ratings.get("one.example") is None
        and again.trust_ratings.drop("two.example")
        and not again.trust_ratings.drop("two.example")
    )
    again.close()


def test_an_older_store_is_brought_up(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path / 't.db'}"
    with monkeypatch.context() as older:
        older.setattr(
            migrations, "MIGRATIONS", tuple(m for m in migrations.MIGRATIONS if m.__name__ != "m005_trusts")
        )
        Store(url).close()
    store = Store(url)
    assert store.trust_ratings.all() == {}
    store.trust_ratings.put("one.example", rating("one.example", 1.0))
    assert list(store.trust_ratings.all()) == ["one.example"]
    store.close()
