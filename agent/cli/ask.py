"""`research`, `site`, `collect` and `chat`: ask, and print the answer."""

from __future__ import annotations

from argparse import Namespace

from agent import api
from agent.actions import budget, validation
from agent.cli import options, output
from agent.cli.options import command, count, file_option, flag, limit, option, read_settings, words_option
from agent.engine.run_settings import normalize_settings
from agent.errors import UsageError
from agent.export import collected
from agent.export.plain import render_plain_text
from agent.library.ingest import DEMO_TAG
from agent.llm.recorded import has_example
from agent.text.plurals import clip
from agent.text.urls import complete_typed_url, host
from agent.types import LibraryScope, LibrarySource, Settings, Status
from agent.workbench import Workbench


@command(
    options.QUESTION,
    options.WORLD,
    options.MODEL,
    options.REPORT,
    *options.BUDGETS,
    flag("--estimate", "only print what it is likely to need"),
    options.ALLOW,
    *options.SEARCH_SOURCES,
    option("--follow RUN", "a further question in the thread of this run: its facts are known"),
    *options.OUTPUT_FILES,
)
def research(args: Namespace) -> int:
    """Ask and print the answer; returns the exit code."""
    settings = read_settings(args)
    validation.check_new_run(args.question.strip(), normalize_settings(settings))
    if args.estimate:
        output.write_stdout(budget.describe_budgets(Workbench(), settings))
        return 0
    bench = Workbench()
    return output.drive_and_print(bench, _start(bench, args, settings), args)


def _start(bench: Workbench, args: Namespace, settings: Settings) -> str:
    """Start a run with the question, or a further one of the thread of `args.follow`; returns its id."""
    if args.follow:
        return output.follow_up(bench, args.follow, args.question, settings)
    output.check_network(bench, settings.world, [settings.flow])
    return bench.start(args.question, settings)


@command(
    options.QUESTION,
    option("--start URL", "a page to start from; repeat it for more", action="append", required=True),
    words_option(
        "--allow HOSTS",
        "hosts that may be read, comma-separated; *.HOST with its subdomains; '' for any host "
        "[default: the hosts of the start pages]",
        "allowed_domains",
    ),
    *options.SOURCES,
    options.INSTRUCTION,
    limit("--max-pages N", "pages read", "site.max_pages", count),
    limit("--iterations N", "rounds of reading a question", "site.max_iterations", count),
    limit("--batch N", "pages chosen in one round", "site.max_urls_per_iteration", count),
    limit("--ahead N", "pages of one round, chosen or not", "site.crawl_ahead"),
    limit("--fresh-days N", "days for which a stored page is used without a request", "site.fresh_days"),
    limit("--page-chars N", "characters of a page in a prompt", "site.content_max_chars", count),
    limit("--page-links N", "links of a page in a prompt", "site.max_links_per_page", count),
    limit("--url-chars N", "characters of an address in a prompt", "site.links_max_chars", count),
    limit("--url-buffer N", "of these, kept free for the mark of a cut", "site.url_truncation_buffer", count),
    option("--follow RUN", "continue the conversation of this run and reuse its pages"),
    options.WORLD,
    options.MODEL,
    *options.OUTPUT_FILES,
)
def site(args: Namespace) -> int:
    """Ask and print the answer or the refusal; returns the exit code."""
    settings = read_settings(args, flow="site", start_urls=[complete_typed_url(url) for url in args.start])
    if not args.follow and "allowed_domains" not in settings.model_fields_set:
        settings.allowed_domains = list(dict.fromkeys(filter(None, map(host, settings.start_urls))))
    validation.check_new_run(args.question.strip(), normalize_settings(settings))
    bench = Workbench()
    return output.drive_and_print(bench, _start(bench, args, settings), args)


@command(
    option("prompt PROMPT", 'what to gather, e.g. "what members say about X in the last month"'),
    option("--start URL", "a page to start from; repeat it for more", action="append"),
    limit("--max-articles N", "articles or threads", "collect.max_articles"),
    limit("--max-pages N", "page requests in all", "collect.max_pages"),
    limit("--depth N", "pages this deep are not read; start pages have depth 0", "collect.max_depth"),
    options.ALLOW,
    *options.SOURCES,
    options.INSTRUCTION,
    flag(
        "--plain",
        "no decisions: follow every link of the start pages, take each page as an article",
        dest="collect.use_smart_navigation",
        action="store_false",
    ),
    options.WORLD,
    options.MODEL,
    *options.OUTPUT_FILES,
    file_option("--csv FILE", "write a table with a row for each article and post", dest="csv_file"),
)
def collect(args: Namespace) -> int:
    """Gather, write the files asked for, print the digest and the list; returns the exit code."""
    bench = Workbench()
    run_id = api.start_collect_run(bench, args.prompt, args.start or (), read_settings(args))
    if output.drive_run(bench, run_id, ends=(Status.REVIEW,)) is None:
        return 1
    found = api.build_collection(bench, run_id)
    if args.json_file:
        record = collected.build_collection_record(found)
        output.write_file(args.json_file, output.to_json(record))
    if args.markdown_file:
        output.write_file(args.markdown_file, collected.render_collection_markdown(found).rstrip("\n"))
    if args.csv_file:
        output.write_file(args.csv_file, collected.render_collection_csv(found).rstrip("\r\n"))
    lines = [render_plain_text(found.answer) if found.answer else "", ""]
    lines += [f"{len(found.items)} gathered:" if found.items else "Nothing was gathered."]
    for item in found.items:
        posts = f", {len(item.posts)} posts" if item.posts else ""
        day = item.publish_date[:10] or "no date"
        lines.append(f"  {day:<10}  {clip(item.title)} ({item.kind}{posts})  {item.url}")
    output.write_stdout("\n".join(lines))
    return 0


@command(
    option("question QUESTION", "a question, or the answer to the question of --thread"),
    option("--thread RUN", "continue the conversation of this run", dest="follow"),
    option("--scope-tag TAG", "use only sources with one of these tags", nargs="+", action="extend"),
    file_option("--add FILE_OR_FOLDER", "add documents to the library first", nargs="+", action="extend"),
    option("--world live|demo", "demo: the invented, too; its examples add its documents [default: live]"),
    options.MODEL,
    options.JSON_FILE,
)
def chat(args: Namespace) -> int:
    """Ask, or answer what was asked back, and print the outcome; returns the exit code."""
    bench = Workbench()
    sources = list[LibrarySource]()
    for path in args.add or ():
        if path.is_dir():
            added = bench.library.add_folder(path)
            for refused in added.refused:
                output.write_stderr(f"not added: {refused.name}: {refused.why}")
            sources += added.sources
            output.write_stderr(f"added {len(added.sources)} documents of {path}")
        else:
            sources.append(bench.library.add_path(path))
            output.write_stderr(f"added {sources[-1].source_id}")
    if any(DEMO_TAG in source.tags for source in sources):
        told = f"they are used only with --scope-tag {DEMO_TAG} or --world demo"
        output.write_stderr(f"documents of the demo are invented: {told}")
    scope = {"scope": LibraryScope(tags=args.scope_tag)} if args.scope_tag else {}
    settings = read_settings(args, flow="chat", **scope)
    if settings.world == "demo" and not args.follow and has_example(settings, args.question):
        settings.scope = LibraryScope(source_ids=bench.library.add_demo())
        output.write_stderr("an example of the demo: only its own documents are used, all of them invented")
    if not bench.library.count():
        raise UsageError(
            "the library is empty: add documents with --add FILE or --add FOLDER, or let another run read "
            "something first"
        )
    run_id = _start(bench, args, settings)
    ends, head = (Status.DONE, Status.WAITING), bench.snapshot(run_id).head
    view = output.drive_run(bench, run_id, after=head, ends=ends)
    if view is None or view.state.answer is None:
        return 1
    state, answer = view.state, view.state.answer
    lines = [render_plain_text(answer) if answer.sentences else answer.certainty]
    lines += [answer.remark] if answer.remark and not answer.sentences else []
    if asks_back := bool(state.own.needs_clarification):
        lines += [f"  {n}. {choice}" for n, choice in enumerate(state.own.choices, start=1)]
    output.write_stdout("\n".join(lines))
    if asks_back:
        output.write_stderr(f'answer it with `./touchstone chat "YOUR ANSWER" --thread {run_id}`')
    output.write_run(bench, run_id, args)
    return 0
