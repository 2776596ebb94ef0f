"""`reply`: answer a conversation from the knowledge base, or stay silent. Knows the options and how a step of
the flow reads in a line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agent.bot.responder import ReplyOutcome, ReplyService
from agent.cli.output import write_file, write_stderr
from agent.errors import UsageError
from agent.reply_config import DEMO_KB
from agent.types import Step
from agent.types.reply import Conversation, Message
from agent.workbench import Workbench

EMPTY_LIBRARY_HINT = (
    "the knowledge base is empty: name a folder with --kb DIR (or as kb.sources_dir in config.yaml), add documents in the workbench, "
    "or try the bundled one, in which everything is invented, with --kb demo"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "question",
        nargs="?",
        default="",
        metavar="QUESTION",
        help="what somebody says last; may be left out with --conversation",
    )
    parser.add_argument(
        "--kb",
        default="",
        metavar="DIR|demo",
        help="answer from this folder alone (default: the library, with the folders of config.yaml)",
    )
    parser.add_argument(
        "--conversation",
        type=Path,
        metavar="FILE",
        help='what was said before, as JSON: [{"role": "user"|"bot", "text": …}, …]',
    )
    parser.add_argument(
        "--model",
        default="auto",
        metavar="keyless|NAME",
        help="the model (default: the configured one, else keyless)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the reply and its whole run as JSON")


def run(options: argparse.Namespace) -> int:
    """Reply, and print the text; silence prints nothing but why. Returns the exit code: 1 when something
    failed."""
    said = read_messages(options.conversation) if options.conversation else []
    if options.question.strip():
        said.append(Message(role="user", text=options.question))
    if not said:
        raise UsageError("there is nothing to reply to: give a QUESTION, or a --conversation FILE")
    bench = Workbench()
    replying = ReplyService(bench, kb=_knowledge_base_folder(options.kb))
    try:
        replied = replying.reply(Conversation(messages=said), model=options.model)
        for step in bench.store.ledger.steps(replied.run_id)[1:] if replied.run_id else []:
            if told := format_step(step):
                write_stderr(f"  {step.n:>3}  {told}")
        if not replied.result.should_reply and not replied.failed and not replying.library.index():
            write_stderr(f"touchstone: {EMPTY_LIBRARY_HINT}")
        if options.json:
            write_file(options.json, json.dumps(reply_record(bench, replied), ensure_ascii=False, indent=1))
    finally:
        replying.close()
        bench.shutdown()
    if not replied.result.should_reply:
        write_stderr(
            f"{'failed' if replied.failed else 'silence'} ({' -> '.join(replied.path)}): {replied.reason}"
        )
        return 1 if replied.failed else 0
    sys.stdout.write(replied.result.reply_text + "\n")
    sys.stdout.flush()
    return 0


def read_messages(path: Path) -> list[Message]:
    """The messages in a file: a list of them, or an object with the list under `conversation`. Raises
    UsageError."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
        return Conversation.model_validate(
            {"messages": given["conversation"] if isinstance(given, dict) else given}
        ).messages
    except OSError as trouble:
        raise UsageError(f"{path} cannot be read: {trouble.strerror}") from trouble
    except ValidationError as wrong:
        fault = wrong.errors(include_url=False)[0]
        raise UsageError(f"{path}: {'.'.join(map(str, fault['loc'][1:]))}: {fault['msg']}") from None
    except (ValueError, KeyError, RecursionError):
        raise UsageError(
            f'{path} is no conversation: it must hold [{{"role": "user", "text": "…"}}, …]'
        ) from None


def reply_record(bench: Workbench, replied: ReplyOutcome) -> dict[str, Any]:
    """What `--json` writes."""
    usage = replied.usage.model_dump(include={"llm_calls", "prompt_tokens", "completion_tokens", "cost_usd"})
    told = {
        "path": list(replied.path),
        "reason": replied.reason,
        "failed": replied.failed,
        "seconds": round(replied.seconds, 3),
        "usage": usage,
    }
    return {
        **replied.result.model_dump(),
        **told,
        "run": bench.as_json(replied.run_id) if replied.run_id else None,
    }


def format_step(step: Step) -> str:
    """One step in a line, "" when there is nothing a person would want to know."""
    change = step.change
    if step.name == "gate" and (gating := change.get("gating")):
        return f"gate: {'answerable' if gating['should_reply'] else 'not answerable'} — {gating['reasoning']}"
    if step.name == "select" and (chosen := change.get("selection")):
        looked = (
            f"{len(chosen['shown'])} of {chosen['entries']}"
            if chosen["prefiltered"]
            else str(chosen["entries"])
        )
        refused = "".join(
            f"\n       refused: {refusal['what']}: {refusal['why']}" for refusal in change.get("refusals", [])
        )
        return f"select: {', '.join(chosen['selected_source_ids']) or 'none'} (of {looked} in the index) — {chosen['reasoning']}{refused}"
    if step.name == "load":
        told = [
            f"{source['source_id']}: {source['detail'] or format(source['characters'], ',') + ' characters'}"
            for source in change["loaded"]
        ]
        return f"load: {'; '.join(told)}"
    if step.name == "write":
        return f"write: {len(change.get('draft', ''))} characters, {len(change.get('left_out', []))} sentences left out"
    if step.name == "verify" and (check := change.get("verification")):
        return f"verify: {'approved' if check['verification'] else 'rejected'} — {check['reasoning']}"
    return str(change.get("why_stopped", "")) if step.name == "budget" else ""


def _knowledge_base_folder(name: str) -> Path | None:
    return DEMO_KB if name == "demo" else Path(name).expanduser() if name else None
