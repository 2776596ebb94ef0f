"""`reply`: answer a conversation from the knowledge base, or stay silent."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from pydantic import ValidationError

from agent.bot.responder import ReplyService
from agent.cli import options, output
from agent.cli.options import command, file_option, option
from agent.errors import UsageError, describe_faults
from agent.flows import FLOWS
from agent.settings.reply_config import DEMO_KB
from agent.types.reply import Conversation, Message
from agent.workbench import Workbench


@command(
    option("question QUESTION", "the last message; optional with --conversation", nargs="?"),
    option(
        "--kb DIR|demo",
        "answer from this folder alone [default: the library, with the folders of config.yaml]",
    ),
    file_option("--conversation FILE", 'earlier messages as JSON: [{"role": "user"|"bot", "text": …}, …]'),
    options.MODEL,
    options.JSON_FILE,
)
def reply(args: Namespace) -> int:
    """Reply and print the text; silence prints only its reason. Returns 1 when something failed."""
    messages = read_messages(args.conversation) if args.conversation else []
    if args.question and args.question.strip():
        messages.append(Message(role="user", text=args.question))
    if not messages:
        raise UsageError("there is nothing to reply to: give a QUESTION, or a --conversation FILE")
    bench = Workbench()
    folder = DEMO_KB if args.kb == "demo" else Path(args.kb).expanduser() if args.kb else None
    service = ReplyService(bench, kb=folder)
    try:
        outcome = service.reply(Conversation(messages=messages), model=args.model or "auto", hold=True)
        for step in bench.snapshot(outcome.run_id).steps[1:] if outcome.run_id else ():
            if line := FLOWS["reply"].describe(step):
                output.write_stderr(f"  {step.n:>3}  {line}")
        if args.json_file:
            used = {"llm_calls", "prompt_tokens", "completion_tokens", "cost_usd"}
            record = {
                **outcome.result.model_dump(),
                "path": outcome.path,
                "reason": outcome.reason,
                "left_out": outcome.left_out,
                "failed": outcome.failed,
                "seconds": round(outcome.seconds, 3),
                "usage": outcome.usage.model_dump(include=used),
                "run": bench.as_json(outcome.run_id) if outcome.run_id else None,
            }
            output.write_file(args.json_file, output.to_json(record))
        if outcome.result.should_reply:
            output.write_stdout(outcome.result.reply_text)
            return 0
        if not outcome.failed and not service.library.count(added_only=True):
            output.write_stderr(
                "touchstone: the knowledge base is empty: name a folder with --kb DIR (or as kb.sources_dir "
                "in config.yaml), add documents in the workbench, or try the invented one with --kb demo "
                "(pages that runs have read count with include_read_pages)"
            )
    finally:
        service.close()
        bench.shutdown()
    kind = "failed" if outcome.failed else "silence"
    output.write_stderr(f"{kind} ({' -> '.join(outcome.path)}): {outcome.reason}")
    return 1 if outcome.failed else 0


def read_messages(path: Path) -> list[Message]:
    """The messages in a file: a list, or an object with the list under `conversation`. Raises UsageError."""
    try:
        given = json.loads(output.read_file(path))
        messages = given["conversation"] if isinstance(given, dict) else given
        return Conversation.model_validate({"messages": messages}).messages
    except (ValueError, KeyError, RecursionError) as wrong:
        told = describe_faults(wrong) if isinstance(wrong, ValidationError) else "this is not JSON"
        raise UsageError(
            f'{path} is no conversation: {told}; it must hold [{{"role": "user", "text": "…"}}, …]'
        ) from None
