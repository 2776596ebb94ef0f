"""The central store of a server with a login, `accounts.db` in the data folder or a schema in PostgreSQL, and
the tables in it."""

from __future__ import annotations

from agent.accounts import tables
from agent.accounts.audit import AuditLog
from agent.accounts.people import LOCAL, People, Person
from agent.accounts.provider_tokens import ProviderTokens
from agent.accounts.quotas import Quota, Quotas
from agent.accounts.sign_in import SignInRules
from agent.accounts.tokens import ApiToken, ApiTokens, Shares
from agent.settings.config import Config
from agent.store.database import open_engine
from agent.store.migrations import migrate
from agent.store.table_access import Writer


class Accounts:
    """People, tokens, shares, quotas and the audit log. Raises StoreTooNew, StoreError, UsageError."""

    def __init__(self, config: Config) -> None:
        config.data_folder.mkdir(parents=True, exist_ok=True)
        self.engine = open_engine(config.locate_store("accounts.db"))
        writer = Writer(self.engine)
        migrate(writer, tables.MIGRATIONS)
        defaults = Quota(config.QUOTA_RUNS, config.QUOTA_PAGES, config.QUOTA_TOKENS, config.QUOTA_DOLLARS)
        self.audit = AuditLog(writer)
        self.people = People(writer, self.audit, SignInRules(config))
        self.tokens = ApiTokens(writer, self.audit)
        self.shares = Shares(writer, self.audit)
        self.quotas = Quotas(writer, self.audit, defaults)
        self.provider = ProviderTokens(config, self.people) if config.has_login else None

    def find_program(self, text: str, scope: str = "") -> tuple[ApiToken | None, Person]:
        """The token of this text, made here or by the login's provider, and the person that it acts for,
        LOCAL for one that was made where nobody signs in; None for one that does not hold for the scope ("":
        for any). Raises NoAnswer when the provider cannot be asked."""
        if self.provider and "." in text:
            token, person = self.provider.find(text)
            return (token if token and (not scope or scope in token.scopes) else None), person
        token = self.tokens.find(text, scope)
        if token is None or token.person_id == LOCAL.id:
            return token, LOCAL
        person = self.people.get(token.person_id)
        return token if self.people.is_let_in(person) else None, person

    def close(self) -> None:
        """Close the store."""
        self.engine.dispose()
