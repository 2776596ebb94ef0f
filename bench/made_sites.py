"""Sites to collect from, made from a seed: forums, news, single articles, mail archives, changelogs, release
notes. Layout, class names, nesting, noise, language and the form of dates vary; what a right run gathers is
known. It uses nothing of the collector, and writes forms the collector was not made for, too.

    write_sites(folder, seeds=[1, 2])  # docs.jsonl and questions.jsonl for `eval --flow collect`"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from email.utils import format_datetime
from html import escape
from pathlib import Path

from bench.made_site import Site

KINDS = ("forum", "news", "article", "mail", "changelog", "releases")


def make_site(kind: str, seed: int, today: date) -> Site:
    """The site of a kind that a seed makes."""
    site = Site(random.Random(f"{kind} {seed}"), kind, seed, today)
    _MAKERS[kind](site)
    return site


def write_sites(
    folder: Path, seeds: Iterable[int], kinds: Iterable[str] = KINDS, today: date | None = None
) -> list[Site]:
    """Write the sites of these seeds as a folder world with questions."""
    kinds = list(kinds)
    sites = [make_site(kind, seed, today or date.today()) for seed in seeds for kind in kinds]
    folder.mkdir(parents=True, exist_ok=True)
    docs = [json.dumps({"text": "", **doc}) for site in sites for doc in site.docs]
    (folder / "docs.jsonl").write_text("\n".join(docs), encoding="utf-8")
    (folder / "questions.jsonl").write_text(
        "\n".join(json.dumps(s.question) for s in sites), encoding="utf-8"
    )
    return sites


def _list_entries(site: Site, entries: list[tuple[str, str, str, str]], heading: str) -> str:
    """A listing of (address, title, date, teaser) in one of several layouts."""
    layout = site.rng.choice(["ul", "table", "cards", "articles", "dl", "headings"])
    rows = []
    for n, (url, title, day, teaser) in enumerate(entries):
        link, stamp = (
            f'<a href="{url}">{escape(title)}</a>',
            f"<span{site.css('date')}>{day}</span>" if day else "",
        )
        text = f"<p>{escape(teaser)}</p>" if teaser else ""
        odd = " odd" if n % 2 else " even"
        rows.append(
            {
                "ul": f"<li>{link} {stamp}{text}</li>",
                "table": f"<tr><td>{link}{text}</td><td>{stamp}</td></tr>",
                "cards": f'<div class="card{odd}">{stamp}<h3>{link}</h3>{text}</div>',
                "articles": f"<article{site.css('entry')}><h2>{link}</h2>{stamp}{text}</article>",
                "dl": f"<dt>{link} {stamp}</dt><dd>{escape(teaser)}</dd>",
                "headings": f"<div><h4>{link}</h4>{text}<small>{stamp}</small></div>",
            }[layout]
        )
    around = {"ul": "ul", "table": "table", "dl": "dl"}.get(layout, "div")
    return f"<h1>{escape(heading)}</h1><{around}{site.css('list')}>{''.join(rows)}</{around}>"


def _make_post(site: Site, n: int, layout: str, user: str, day: datetime, text: str) -> str:
    stamp = site.write_date(day.date(), day.hour, day.minute)
    date_mark = f"<span{site.css('posted')}>{stamp}</span>"
    who = f'<a href="/user/{user.lower()}">{user}</a>' if site.classes.get("link names") else f"<b>{user}</b>"
    body = f"<div{site.css('body')}><p>{escape(text)}</p></div>"
    controls = "<p><a href='#r'>Reply</a> <a href='#q'>Quote</a></p>" if site.classes.get("controls") else ""
    if site.classes.get("signatures"):
        controls = f"<div class='signature'>{site.sentence()}</div>{controls}"
    if layout == "table":
        return f"<tr><td>{who}<br>{date_mark}</td><td>{body}{controls}</td></tr>"
    if layout == "list":
        return f"<li{site.css('comment')}>{who} {date_mark}{body}{controls}</li>"
    inner = f"<div{site.css('head')}>{who} · {date_mark}</div>{body}{controls}"
    return f'<div class="{site.classes["post"]}" id="p{n}">{inner}</div>'


def _make_forum(site: Site) -> None:
    rng, topic = site.rng, site.topic
    site.classes |= {"post": rng.choice(["post", "msg", site.word()]), "controls": rng.choice(["", "yes"])}
    site.classes["link names"] = rng.choice(["", "yes"])
    site.classes["signatures"] = rng.choice(["", "", "yes"])
    per_page = rng.choice([3, 50])
    layout = rng.choice(["table", "list", "blocks"])
    entries = []
    for n in range(rng.randint(5, 9)):
        on_topic, recent = rng.random() < 0.6 or n == 0, rng.random() < 0.7 or n == 0
        last = site.days_ago(2, 25) if recent else site.days_ago(60, 400)
        title = f"{topic} {site.words(4)}" if on_topic else site.words(6).capitalize()
        posts = []
        count = rng.randint(2, 6)
        for i in range(count):
            when = datetime(last.year, last.month, last.day, rng.randint(0, 22), 5) - timedelta(
                days=(count - 1 - i)
            )
            text = " ".join(site.paragraphs(1, topic if on_topic and i < 2 else ""))
            posts.append((f"{site.word(3)}{rng.randint(1, 99)}", when, text))
        tag = {"table": "table", "list": rng.choice(["ul", "ol"])}.get(layout, "div")
        path = f"/{rng.choice(['t', 'thread', site.word()])}/{rng.randint(100, 9999)}{n}"
        url = site.host + path
        for at in range(0, count, per_page):
            marks = "".join(
                _make_post(site, i, layout, *post) for i, post in enumerate(posts[at : at + per_page])
            )
            more = (
                f"<p><a href='{path}?p={at + per_page}'>{site.labels[6]}</a></p>"
                if at + per_page < count
                else ""
            )
            place = f"{path}?p={at}" if at else path
            site.expect(
                site.add_page(place, title, f"<h1>{title}</h1><{tag}>{marks}</{tag}>{more}"),
                "EXTRACT_CONTENT",
            )
        entries.append((url, title, site.write_date(last), ""))
        if on_topic and recent:
            stated = [[user, when.date().isoformat()] for user, when, _ in posts]
            site.want(url, text=" ".join(text for *_, text in posts), posts=stated)
    rng.shuffle(entries)
    if rng.random() < 0.3:
        entries.insert(
            0, (site.add_page("/rules", "House rules", f"<p>{site.sentence()}</p>"), "House rules", "", "")
        )
    forum = site.labels[4]
    board = site.add_page(f"/{site.word()}/{forum.lower()}", forum, _list_entries(site, entries, forum))
    site.expect(board, "EXTRACT_LINKS")
    news = f'<a href="/{site.word()}">{site.labels[5]}</a>'
    rows = "".join(f"<tr><td>{site.word()}</td><td>{rng.randint(1, 999)}</td></tr>" for _ in range(6))
    body = f"<h1>{topic}</h1><table>{rows}</table><p>{news} <a href='{board}'>{forum}</a></p><p>{site.sentence(topic)}</p>"
    start = site.add_page(f"/company/{topic.lower()}", f"{topic} share price", body)
    site.expect(start, "NAVIGATE_TO")
    site.ask(
        f"Go to the forum section and find out what people are saying about {topic} in the last month", start
    )


def _make_article_page(
    site: Site, path: str, title: str, day: date, paragraphs: list[str], author: str
) -> str:
    """An article; its date stands in its metadata, in a byline, or both."""
    rng = site.rng
    way = rng.choice(["meta", "byline", "json", "both"])
    meta = (
        f'<meta property="article:published_time" content="{day}T08:00:00Z">'
        if way in ("meta", "both")
        else ""
    )
    if way == "json":
        stated = {
            "@type": "NewsArticle",
            "datePublished": str(day),
            "author": {"@type": "Person", "name": author},
        }
        meta = f'<script type="application/ld+json">{json.dumps(stated)}</script>'
    byline = (
        f"<p{site.css('byline')}>{author}, {site.write_date(day)}</p>" if way in ("byline", "both") else ""
    )
    share = (
        "<ul><li><a href='#'>Share</a></li><li><a href='#'>Print</a></li></ul>" if rng.random() < 0.5 else ""
    )
    text = "".join(f"<p>{escape(p)}</p>" for p in paragraphs)
    body = f"<h1>{title}</h1>{byline}{share}<div{site.css('text')}>{text}</div>"
    if rng.random() < 0.3:
        others = "".join(
            f"<li><a href='/story/x{n}'>{site.words(5)}</a> {site.write_date(site.days_ago(1, 90))}</li>"
            for n in range(3)
        )
        body += f"<aside class='related'><h3>{site.word()}</h3><ul>{others}</ul></aside>"
    return site.add_page(path, title, rng.choice(["{}", "<article>{}</article>"]).format(body), head=meta)


def _make_news(site: Site) -> None:
    rng, topic, entries = site.rng, site.topic, []
    is_dated, has_teasers = rng.random() < 0.7, rng.random() < 0.6
    for n in range(rng.randint(6, 12)):
        on_topic, recent = rng.random() < 0.6 or n == 0, rng.random() < 0.6 or n == 0
        day = site.days_ago(1, 19) if recent else site.days_ago(40, 500)
        title = f"{site.words(3).capitalize()} {topic if on_topic else site.word()} {site.words(2)}"
        text = site.paragraphs(rng.randint(3, 5), topic if on_topic else "")
        path = (
            f"/{day:%Y/%m/%d}/{site.word()}{n}"
            if rng.random() < 0.3
            else f"/story/{site.word()}-{site.word()}{n}"
        )
        url = _make_article_page(site, path, title, day, text, site.person())
        site.expect(url, "EXTRACT_CONTENT")
        entries.append(
            (url, title, site.write_date(day) if is_dated else "", site.sentence() if has_teasers else "")
        )
        if on_topic and recent:
            site.want(url, text=" ".join(text), date=day.isoformat())
    body = _list_entries(site, entries, site.labels[5])
    if rng.random() < 0.3:
        half = len(entries) // 2
        rest = _list_entries(site, entries[half:], site.labels[5])
        site.expect(site.add_page("/older", site.labels[5], rest), "EXTRACT_LINKS")
        body = (
            _list_entries(site, entries[:half], site.labels[5])
            + f"<p><a href='/older'>{site.labels[6]}</a></p>"
        )
    if rng.random() < 0.5:
        popular = "".join(
            f"<li><a href='{url}'>{title}</a></li>" for url, title, *_ in rng.sample(entries, 3)
        )
        body += f"<aside{site.css('popular')}><ul>{popular}</ul></aside>"
    start = site.add_page(f"/{site.word()}", f"{site.labels[5]} – {site.word().capitalize()}", body)
    site.expect(start, "EXTRACT_LINKS")
    site.ask(f"Summarize {topic} news from the last three weeks", start)


def _make_article(site: Site) -> None:
    day, author = site.days_ago(1, 900), site.person()
    text = site.paragraphs(site.rng.randint(3, 8), site.topic)
    start = _make_article_page(
        site, f"/{site.word()}/{site.word()}", site.words(5).capitalize(), day, text, author
    )
    site.expect(start, "EXTRACT_CONTENT")
    site.want(start, text=" ".join(text), date=day.isoformat())
    site.ask("Summarize this article", start)


def _write_header(site: Site, sender: str, address: str, subject: str, when: datetime) -> str:
    """The header of a message in one of the forms of archives."""
    rng, (by, to, about, day, *_) = site.rng, site.labels
    stamp = (
        format_datetime(when)
        if site.classes["mail dates"] == "rfc"
        else site.write_date(when.date(), when.hour)
    )
    at = rng.choice([f"&lt;{address}&gt;", f"&lt;{address.replace('@', ' at ')}&gt;", f"({address})"])
    fields = [(to, "list@lists.example"), (about, escape(subject)), (by, f"{sender} {at}"), (day, stamp)]
    form = site.classes["header"]
    if form == "plain":
        plain = f"<b>{sender}</b> <a href='mailto:{address}'>{address.replace('@', ' at ')}</a>"
        return f"<h1>{escape(subject)}</h1>{plain}<br><i>{when:%a %b %d %H:%M:%S} CET {when.year}</i>"
    lines = {
        "list": "<ul>" + "".join(f"<li><em>{k}</em>: {v}</li>" for k, v in fields) + "</ul>",
        "table": "<table>" + "".join(f"<tr><th>{k}:</th><td>{v}</td></tr>" for k, v in fields) + "</table>",
        "dl": "<dl>" + "".join(f"<dt>{k}:</dt><dd>{v}</dd>" for k, v in fields) + "</dl>",
        "breaks": "<p>" + "<br>".join(f"<strong>{k}:</strong> {v}" for k, v in fields) + "</p>",
        "pre": "<pre>" + "\n".join(f"{k}: {v}" for k, v in fields) + "</pre>",
    }[form]
    return f"<h1>{escape(subject)}</h1>{lines}"


def _make_mail(site: Site) -> None:
    rng = site.rng
    site.classes["header"] = rng.choice(["list", "table", "dl", "breaks", "pre", "plain"])
    site.classes["mail dates"] = "rfc" if rng.random() < 0.6 or site.date_form == "time" else "site"
    site.classes["list footer"] = rng.choice(["", "yes"])
    people = [site.person() for _ in range(4)]
    count, first = rng.randint(14, 40), datetime(site.today.year, site.today.month, 1, 8) - timedelta(days=90)
    subjects = [site.words(4).capitalize() for _ in range(4)]
    in_pre, sent = rng.random() < 0.6, []
    for n in range(count):
        when = first + timedelta(hours=37 * n)
        sender, subject = rng.choice(people), rng.choice(subjects)
        own = "\n\n".join(site.paragraphs(rng.randint(1, 3)))
        quoted = "".join(f"> {site.sentence()}\n" for _ in range(rng.randint(0, 2)))
        opening = f"{rng.choice(people)} {site.labels[8]}:\n{quoted}\n" if quoted else ""
        text = opening + own
        body = (
            f"<pre>{escape(text)}</pre>"
            if in_pre
            else "".join(f"<p>{escape(p)}</p>" for p in text.split("\n\n"))
        )
        near = "".join(
            f"<a href='m{n + d:05d}.html'>{w}</a> "
            for d, w in ((-1, "previous"), (1, "next"))
            if 0 <= n + d < count
        )
        head = _write_header(site, sender, f"{sender.split()[0].lower()}@mail.example", subject, when)
        page = f"<p>[{near}<a href='index.html'>index</a>]</p>{head}<hr>{body}<hr><p>{near}</p>"
        if site.classes["list footer"]:
            page += f"<p><a href='/info'>More about the list {site.word()}</a></p>"
        url = site.add_page(f"/archive/m{n:05d}.html", subject, page)
        site.expect(url, "EXTRACT_CONTENT")
        sent.append((url, subject, sender, when, own))
    rows, day = [], None
    grouped, newest_first = rng.random() < 0.4, rng.random() < 0.5
    for url, subject, sender, when, _ in sent[::-1] if newest_first else sent:
        if grouped and when.date() != day:
            day = when.date()
            rows.append(f"</ul><h3>{site.write_date(day)}</h3><ul>")
        rows.append(f"<li><a href='{url}'>{escape(subject)}</a> <em>{sender}</em></li>")
    start = site.add_page(
        "/archive/index.html", f"{site.word()} archive", f"<h1>List</h1><ul>{''.join(rows)}</ul>"
    )
    site.expect(start, "EXTRACT_LINKS")
    wanted = sent[-1][2]
    for url, _, sender, when, own in [m for m in sent if m[2] == wanted][-4:]:
        site.want(url, text=own, date=when.date().isoformat(), author=sender)
    number = min(4, sum(m[2] == wanted for m in sent))
    site.ask(f"last {number} messages by {wanted}", start)


def _make_notes(site: Site, count: int) -> list[tuple[str, date, list[str]]]:
    """Releases, newest first: the version, the day, the changes."""
    day, found = site.days_ago(5, 60), []
    for n in range(count):
        version = f"{5 - n // 5}.{9 - n % 5 * 2}.{site.rng.randint(0, 9)}"
        changes = [site.sentence() for _ in range(site.rng.randint(2, 6))]
        found.append((version, day, changes))
        day -= timedelta(days=site.rng.randint(20, 90))
    return found


def _make_changelog(site: Site) -> None:
    rng, notes = site.rng, _make_notes(site, site.rng.randint(6, 18))
    form = rng.choice(["heading", "line", "dl", "text", "list"])
    site.date_form = rng.choice(["iso", "long", "dots", "long"])
    released, level, parts = site.labels[7], rng.choice(["h2", "h3"]), []
    site.classes |= {"issues": rng.choice(["", "yes"]), "kinds": rng.choice(["", "yes"])}
    if form == "heading" and rng.random() < 0.4:
        parts.append(f"<{level}>Unreleased</{level}><ul><li>{site.sentence()}</li></ul>")
    for version, day, changes in notes:
        issue = " <a href='https://bugs.example/{0}'>#{0}</a>" if site.classes["issues"] else ""
        marked = [escape(c) + issue.format(rng.randint(10, 9999)) for c in changes]
        bullets = "<ul>" + "".join(f"<li>{c}</li>" for c in marked) + "</ul>"
        if site.classes["kinds"] and form in ("heading", "line"):
            bullets = f"<h4>{site.word()}</h4>{bullets}<h4>{site.word()}</h4><p>{site.word()}.</p>"
        stamp = site.write_date(day)
        parts.append(
            {
                "heading": f"<{level}>{version} ({stamp})</{level}>{bullets}",
                "line": f"<{level}>Version {version}</{level}><p>{released}: {stamp}</p>{bullets}",
                "dl": f"<dt>{stamp} – {version}</dt><dd>{bullets}</dd>",
                "text": f"{version} – {stamp}\n" + "".join(f"  * {c}\n" for c in changes) + "\n",
                "list": f"<li><b>{stamp}</b> {version}{bullets}</li>",
            }[form]
        )
    around = {"dl": "<dl>{}</dl>", "text": "<pre>{}</pre>", "list": "<ul>{}</ul>"}.get(form, "{}")
    body = f"<h1>Changelog</h1><p>{site.sentence()}</p>" + around.format("".join(parts))
    start = site.add_page(f"/{site.word()}/changes", "Changelog", body)
    site.expect(start, "EXTRACT_CONTENT")
    year = notes[len(notes) // 2][1].year
    for _, day, changes in notes:
        if day.year == year:
            site.want(start, text=" ".join(changes), date=day.isoformat())
    site.ask(f"changes in {year}", start)


def _make_releases(site: Site) -> None:
    rng, notes = site.rng, _make_notes(site, site.rng.randint(6, 14))
    is_dated, entries = rng.random() < 0.5, []
    site.classes["chapters"] = rng.choice(["", "yes"])
    year = notes[len(notes) // 2][1].year
    for version, day, changes in notes:
        bullets = "<ul>" + "".join(f"<li>{escape(c)}</li>" for c in changes) + "</ul>"
        stamp = f"<p>{site.labels[7]}: {day.isoformat() if site.date_form == 'time' else site.write_date(day)}</p>"
        top = "<p><a href='/notes'>Up</a> | <a href='/'>Home</a></p>"
        if site.classes["chapters"] and version != notes[-1][0]:
            following = notes[[v for v, *_ in notes].index(version) + 1][0]
            top += f"<p><a href='/notes/{following}' rel='next'>{site.labels[6]}</a></p>"
        title = f"Release {version}"
        url = site.add_page(
            f"/notes/{version}", title, f"{top}<h1>{title}</h1>{stamp}<h2>{site.word()}</h2>{bullets}"
        )
        site.expect(url, "EXTRACT_CONTENT")
        entries.append((url, f"{site.topic} release {version}", site.write_date(day) if is_dated else "", ""))
        if day.year == year:
            site.want(url, text=" ".join(changes), date=day.isoformat())
    start = site.add_page("/notes", "Release notes", _list_entries(site, entries, "Release notes"))
    site.expect(start, "EXTRACT_LINKS")
    site.ask(f"releases of {year}", start)


_MAKERS = {
    "forum": _make_forum,
    "news": _make_news,
    "article": _make_article,
    "mail": _make_mail,
    "changelog": _make_changelog,
    "releases": _make_releases,
}
