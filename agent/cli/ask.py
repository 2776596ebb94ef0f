"""`research`, `site`, `collect` and `chat`: ask, and print the answer."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from agent import api
from agent.actions import budget, validation
from agent.cli.options import (
    ALLOW,
    BUDGETS,
    INSTRUCTION,
    JSON_FILE,
    MODEL,
    OUTPUT_FILES,
    QUESTION,
    REPORT,
    SEARCH_SOURCES,
    SOURCES,
    START,
    WORLD,
    command,
    file_option,
    flag,
    hosts_option,
    limit,
    option,
    read_settings,
)
from agent.cli.output import (
    check_network,
    drive_and_print,
    drive_run,
    follow_up,
    to_json,
    write_file,
    write_run,
    write_stderr,
    write_stdout,
)
from agent.engine.run_settings import normalize_settings
from agent.errors import UsageError
from agent.export import collected
from agent.export.plain import render_plain_text
from agent.flows import FLOWS
from agent.library.ingest import DEMO_TAG
from agent.text.urls import complete_typed_url, host
from agent.types import LibraryScope, Status
from agent.workbench import Workbench

EMPTY_LIBRARY_HINT = (
    "the library is empty: add documents with --add FILE or --add FOLDER, or let another run read something "
    "first"
)
MAX_TITLE_CHARS = 90
"""Characters of a title in the list of what was gathered."""


@command(
    QUESTION,
    WORLD,
    MODEL,
    REPORT,
    *BUDGETS,
    flag("--estimate", "only print what it is likely to need"),
    ALLOW,
    *SEARCH_SOURCES,
    option("--follow RUN", "a further question in the thread of this run: its facts are known"),
    *OUTPUT_FILES,
)
def research(args: Namespace) -> int:
    """Ask and print the answer; returns the exit code."""
    question, settings = args.question, read_settings(args)
    validation.check_new_run(question.strip(), normalize_settings(settings), FLOWS)
    bench = Workbench()
    if args.estimate:
        write_stdout(budget.estimate_budgets(bench, settings).description)
        return 0
    if args.follow:
        return drive_and_print(bench, follow_up(bench, args.follow, question, settings), args)
    check_network(bench, settings.world)
    return drive_and_print(bench, bench.start(question, settings), args)


@command(
    QUESTION,
    (START[0], START[1] | {"required": True}),
    hosts_option(
        "--allow HOST …",
        "hosts that may be read, *.HOST with its subdomains; '' for any host "
        "[default: the hosts of the start pages]",
        "allowed_domains",
    ),
    *SOURCES,
    INSTRUCTION,
    limit("--max-pages N", "pages read", "site.max_pages", least=1),
    limit("--iterations N", "rounds of reading a question", "site.max_iterations", least=1),
    limit("--batch N", "pages chosen in one round", "site.max_urls_per_iteration", least=1),
    limit("--ahead N", "pages of one round, chosen or not", "site.crawl_ahead", least=0),
    limit(
        "--fresh-days N", "days for which a stored page is used without a request", "site.fresh_days", least=0
    ),
    limit("--page-chars N", "characters of a page in a prompt", "site.content_max_chars", least=200),
    limit("--page-links N", "links of a page in a prompt", "site.max_links_per_page", least=1),
    limit("--url-chars N", "characters of an address in a prompt", "site.links_max_chars", least=20),
    limit(
        "--url-buffer N", "of these, kept free for the mark of a cut", "site.url_truncation_buffer", least=3
    ),
    option("--follow RUN", "continue the conversation of this run and reuse its pages"),
    WORLD,
    MODEL,
    *OUTPUT_FILES,
)
def site(args: Namespace) -> int:
    """Ask and print the answer or the refusal; returns the exit code."""
    settings = read_settings(args, flow="site", start_urls=[complete_typed_url(url) for url in args.start])
    if not args.follow and "allowed_domains" not in settings.model_fields_set:
        settings.allowed_domains = list(dict.fromkeys(filter(None, map(host, settings.start_urls))))
    validation.check_new_run(args.question.strip(), normalize_settings(settings), (settings.flow,))
    bench = Workbench()
    if args.follow:
        return drive_and_print(bench, follow_up(bench, args.follow, args.question, settings), args)
    return drive_and_print(bench, bench.start(args.question, settings), args)


@command(
    option("prompt PROMPT", 'what to gather, e.g. "what members say about X in the last month"'),
    START,
    limit("--max-articles N", "articles or threads", "collect.max_articles"),
    limit("--max-pages N", "page requests in all", "collect.max_pages"),
    limit("--depth N", "pages this deep are not read; start pages have depth 0", "collect.max_depth"),
    ALLOW,
    *SOURCES,
    INSTRUCTION,
    flag(
        "--plain",
        "no decisions: follow every link of the start pages, take each page as an article",
        dest="collect.use_smart_navigation",
        action="store_false",
    ),
    WORLD,
    MODEL,
    *OUTPUT_FILES,
    file_option("--csv FILE", "write a table with a row for each article and post", dest="csv_file"),
)
def collect(args: Namespace) -> int:
    """Gather, write the files asked for, print the digest and the list; returns the exit code."""
    settings = api.check_collect_settings(args.prompt, args.start, read_settings(args))
    for file in filter(None, (args.json_file, args.markdown_file, args.csv_file)):
        _check_writable(file)
    bench = Workbench()
    run_id = bench.start(args.prompt, settings)
    if drive_run(bench, run_id, ends=(Status.REVIEW,)) is None:
        return 1
    found = api.build_collection(bench, run_id)
    if args.json_file:
        write_file(args.json_file, to_json(collected.build_collection_record(found)))
    if args.markdown_file:
        write_file(args.markdown_file, collected.render_collection_markdown(found).rstrip("\n"))
    if args.csv_file:
        write_file(args.csv_file, collected.render_collection_csv(found).rstrip("\r\n"))
    lines = ["", f"{len(found.items)} gathered:" if found.items else "Nothing was gathered."]
    for item in found.items:
        posts = f", {len(item.posts)} posts" if item.posts else ""
        day, title = item.publish_date[:10] or "no date", item.title[:MAX_TITLE_CHARS]
        lines.append(f"  {day:<10}  {title} ({item.kind}{posts})  {item.url}")
    marks = {True: "met", False: "missed", None: "unknown"}
    figures = [
        f"{target['value'] if target['value'] is not None else 'unknown'} {target['name']} "
        f"(below {target['below']:g}: {marks[target['met']]})"
        for target in collected.compare_with_targets(found.usage)
    ]
    digest = render_plain_text(found.answer) if found.answer else ""
    write_stdout("\n".join([digest, *lines, ", ".join(figures)]))
    return 0


def _check_writable(file: Path) -> None:
    """Raises UsageError before anything is gathered when a file cannot be written; leaves nothing behind."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        existed = file.exists()
        file.open("a").close()
        if not existed:
            file.unlink()
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


@command(
    option("question QUESTION", "a question, or the answer to the question of --thread"),
    option("--thread RUN", "continue the conversation of this run"),
    option("--scope-tag TAG", "use only sources with one of these tags", [], nargs="+", action="extend"),
    file_option("--add FILE_OR_FOLDER", "add documents to the library first", nargs="+", action="extend"),
    option("--world live|demo", "demo: include the invented pages of the demo world [default: live]"),
    MODEL,
    JSON_FILE,
)
def chat(args: Namespace) -> int:
    """Ask, or answer what was asked back, and print the outcome; returns the exit code."""
    bench = Workbench()
    try:
        for path in args.add or ():
            _add_documents(bench, path)
        if not bench.library.count():
            raise UsageError(EMPTY_LIBRARY_HINT)
        scope = {"scope": LibraryScope(tags=args.scope_tag)} if args.scope_tag else {}
        settings = read_settings(args, flow="chat", **scope)
        if args.thread:
            newest = (bench.thread(args.thread) or [args.thread])[-1]
            run_id = follow_up(bench, newest, args.question, settings)
        else:
            run_id = bench.start(args.question, settings)
        head = bench.snapshot(run_id).head
        view = drive_run(bench, run_id, after=head, ends=(Status.DONE, Status.WAITING))
        if view is None or view.state.answer is None:
            return 1
        state, answer = view.state, view.state.answer
        lines = [render_plain_text(answer) if answer.sentences else answer.certainty]
        lines += [answer.remark] if answer.remark and not answer.sentences else []
        if asks_back := view.run.settings.flow == "chat" and bool(state.own.needs_clarification):
            lines += [f"  {n}. {choice}" for n, choice in enumerate(state.own.choices, start=1)]
        write_stdout("\n".join(lines))
        if asks_back:
            write_stderr(f'answer it with `./touchstone chat "YOUR ANSWER" --thread {run_id}`')
        write_run(bench, run_id, args)
        return 0
    finally:
        bench.shutdown()


def _add_documents(bench: Workbench, path: Path) -> None:
    if path.is_dir():
        added = bench.library.add_folder(path)
        for refused in added.refused:
            write_stderr(f"not added: {refused.name}: {refused.why}")
        sources = added.sources
        write_stderr(f"added {len(sources)} documents of {path}")
    else:
        sources = [bench.library.add_path(path)]
        write_stderr(f"added {sources[0].source_id}")
    if any(DEMO_TAG in source.tags for source in sources):
        write_stderr(
            f"documents of the demo are invented: they are used only with --scope-tag {DEMO_TAG} or --world "
            f"demo"
        )
