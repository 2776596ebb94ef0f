"""A site made by chance: its language, its words, its way to write dates, its pages and what is asked of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import date, timedelta
from html import escape
from typing import Any

MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "sv": "januari februari mars april maj juni juli augusti september oktober november december",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
}


FRENCH_SHORT = "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc."


WORDS = {  # sender, recipient, subject, date, forum, news, next page, released, wrote
    "en": ("From", "To", "Subject", "Date", "Forum", "News", "Next page", "Release date", "wrote"),
    "de": (
        "Von",
        "An",
        "Betreff",
        "Datum",
        "Forum",
        "Nachrichten",
        "Nächste Seite",
        "Veröffentlicht",
        "schrieb",
    ),
    "fr": ("De", "À", "Objet", "Date", "Forum", "Actualités", "Page suivante", "Publié le", "a écrit"),
    "es": ("De", "Para", "Asunto", "Fecha", "Foro", "Noticias", "Página siguiente", "Publicado", "escribió"),
    "sv": ("Från", "Till", "Ämne", "Datum", "Forum", "Nyheter", "Nästa sida", "Släppt", "skrev"),
    "it": (
        "Da",
        "A",
        "Oggetto",
        "Data",
        "Forum",
        "Notizie",
        "Pagina successiva",
        "Pubblicata il",
        "ha scritto",
    ),
    "nl": (
        "Van",
        "Aan",
        "Onderwerp",
        "Datum",
        "Forum",
        "Nieuws",
        "Volgende pagina",
        "Uitgebracht op",
        "schreef",
    ),
    "pt": ("De", "Para", "Assunto", "Data", "Fórum", "Notícias", "Próxima página", "Lançado em", "escreveu"),
}


AGO = {
    "en": "{} days ago",
    "de": "vor {} Tagen",
    "fr": "il y a {} jours",
    "es": "hace {} días",
    "sv": "för {} dagar sedan",
    "it": "{} giorni fa",
    "nl": "{} dagen geleden",
    "pt": "há {} dias",
}


_SYLLABLES = "ka lo mi ren tu sa vel dor pin ge hu bal tro nes wi fra ol ster min ja".split()


_NAMES = (
    "Ada Bruno Carla Deniz Elin Farid Greta Hugo Ines Jonas Kira Luc Mina Nils Olga Pavel Rosa Sven".split()
)


_SURNAMES = (
    "Abel Brandt Costa Duval Ek Fischer Garnier Holm Ivers Jansen Keller Lund Moreau Nyberg Ortiz".split()
)


@dataclass
class Site:
    """The pages of a made site, and the question about it."""

    rng: random.Random
    kind: str
    seed: int
    today: date
    language: str = "en"
    host: str = ""
    topic: str = ""
    docs: list[dict[str, Any]] = field(default_factory=list)
    question: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.language = self.rng.choice(list(MONTHS))
        self.host = f"https://{self.word()}{self.seed}.{self.word()}.example"
        self.topic = self.word(3).capitalize()
        self.date_form = self.rng.choice(
            ["iso", "long", "long", "dots", "time", "short", "month first", "ago", "slashes"]
        )
        self.classes = {}
        self.labels = WORDS[self.language]
        self.question = {"items": [], "actions": {}, "max_articles": 20}

    def word(self, syllables: int = 2) -> str:
        return "".join(self.rng.choice(_SYLLABLES) for _ in range(syllables))

    def words(self, count: int) -> str:
        return " ".join(self.word(self.rng.randint(1, 3)) for _ in range(count))

    def sentence(self, about: str = "") -> str:
        words = self.words(self.rng.randint(7, 16)).split()
        if about:
            words.insert(self.rng.randrange(1, len(words)), about)
        return " ".join(words).capitalize().replace(about.lower() if about else "\0", about) + "."

    def paragraphs(self, count: int, about: str = "") -> list[str]:
        return [
            " ".join(self.sentence(about if n == 0 and i == 0 else "") for i in range(self.rng.randint(2, 4)))
            for n in range(count)
        ]

    def person(self) -> str:
        return f"{self.rng.choice(_NAMES)} {self.rng.choice(_SURNAMES)}"

    def css(self, hint: str) -> str:
        """A class attribute: a telling name, a meaningless one, or none; the same for the same hint."""
        telling = f"{self.rng.choice(['c', 'b', 'x', 'm'])}-{hint}"
        if hint not in self.classes:
            self.classes[hint] = self.rng.choice([hint, telling, self.word(), ""])
        name = self.classes[hint]
        return f' class="{name}"' if name else ""

    def write_date(self, day: date, hour: int = 9, minute: int = 30) -> str:
        """A date as this site writes it."""
        month = MONTHS[self.language].split()[day.month - 1]
        clock = f"{hour:02d}:{minute:02d}"
        dot = "." if self.language == "de" else ""
        short = FRENCH_SHORT.split()[day.month - 1] if self.language == "fr" else month[:3]
        back = (self.today - day).days
        return {
            "ago": AGO[self.language].format(back) if 1 < back < 28 else f"{day.day}{dot} {month} {day.year}",
            "slashes": f"{day:%m/%d/%Y}" if self.language == "en" else f"{day:%d/%m/%Y}",
            "iso": f"{day.isoformat()}",
            "long": f"{day.day}{dot} {month} {day.year}",
            "dots": f"{day.day:02d}.{day.month:02d}.{day.year}",
            "time": f'<time datetime="{day.isoformat()}T{clock}">{day.day} {short}</time>',
            "short": f"{day.day} {short} {day.year}, {clock}",
            "month first": f"{month} {day.day}, {day.year}"
            if self.language == "en"
            else f"{day:%Y/%m/%d} {clock}",
        }[self.date_form]

    def days_ago(self, low: int, high: int) -> date:
        return self.today - timedelta(days=self.rng.randint(low, high))

    def add_page(self, path: str, title: str, body: str, *, head: str = "") -> str:
        """A page with the noise of the site around its body; returns the address."""
        url, rng = self.host + path, self.rng
        menu = "".join(
            f'<li><a href="/{name}">{name.capitalize()}</a></li>'
            for name in ("about", "contact", "login", "shop")
        )
        menu = rng.choice([f"<nav><ul>{menu}</ul></nav>", f'<div class="menu"><ul>{menu}</ul></div>'])
        main = rng.choice(["main", "div", "section"])
        aside = (
            f"<aside><h3>{self.word().capitalize()}</h3><p>{self.sentence()}</p></aside>"
            if rng.random() < 0.5
            else ""
        )
        footer = f"<footer><p>© {self.today.year} {self.word().capitalize()} <a href='/imprint'>Imprint</a></p></footer>"
        body = f"<{main}{self.css('page')}>{body}</{main}>"
        for _ in range(rng.randint(0, 3)):
            body = f"<div>{body}</div>"
        if rng.random() < 0.2:
            body = f"<div id='cookies'><p>{self.sentence()} <button>OK</button></p></div>{body}"
        if rng.random() < 0.3:
            body = f"<p class='crumbs'><a href='/'>Home</a> › <a href='/{self.word()}'>{self.word()}</a> › {title}</p>{body}"
        html = (
            f'<!doctype html><html lang="{self.language}"><head><meta charset="utf-8"><title>{escape(title)}</title>'
            f"{head}</head><body><header><a href='/'>{self.host[8:]}</a></header>{menu}{body}{aside}{footer}</body></html>"
        )
        self.docs.append(
            {"id": f"{self.kind}-{self.seed}-{len(self.docs)}", "url": url, "title": title, "html": html}
        )
        return url

    def want(self, url: str, **item: Any) -> None:
        self.question["items"].append({"url": url, **item})

    def expect(self, url: str, *actions: str) -> None:
        self.question["actions"][url] = list(actions)

    def ask(self, question: str, start_url: str) -> None:
        self.question |= {
            "id": f"{self.kind}-{self.seed}",
            "type": self.kind,
            "question": question,
            "start_url": start_url,
            "answerable": True,
            "answers": [],
            "supporting_ids": [],
        }
