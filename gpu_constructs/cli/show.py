"""How the command shows things: tables for people, JSON for machines."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gpu_constructs.local.nodes.boots import BootedNode
from gpu_constructs.local.report import Section, StackReport

# In a file or a pipe there is no width to keep to: ids stay in one piece.
console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 160)

_BAR_WIDTH = 40
_UNFINISHED = {
    "not_created": "Not created: the local AWS does not know these types",
    "not_run": "Answered, but not run: code that only AWS would run",
    "not_updated": "Changed in the template, but left as it was: the local AWS cannot update these types",
}


def error_console() -> Console:
    """The error stream, as it is when it is asked for."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def progress_console(*, json_output: bool) -> Console:
    """Where progress goes: to the error stream where the output is for a machine."""
    return error_console() if json_output else console


def as_json(value: Any) -> None:
    """Print `value` for a machine."""
    print(json.dumps(value, indent=2, default=str))  # noqa: T201 - as it is, never wrapped or coloured


def report(stack_report: StackReport, *, json_output: bool = False) -> None:
    """Show what a stack created, and last what it did not."""
    if json_output:
        as_json(asdict(stack_report))
        return
    console.print(f"\n[bold]{escape(stack_report.stack)}[/bold]: {stack_report.status}, read back by boto3")
    for section in stack_report.sections:
        console.print(_table(section))
    for kind, found in stack_report.unfinished.items():
        rows = [(name, resource_type) for name, resource_type in found.items()]
        console.print(_table(Section(_UNFINISHED[kind], ("logical id", "type"), list(rows))))
    if not stack_report.unfinished:
        console.print("\nEverything that the template holds was created.")


def boots(stack: str, nodes: list[BootedNode], *, json_output: bool = False) -> None:
    """Show how the nodes of a stack booted: each node a line, and the steps of the slowest as a waterfall."""
    if json_output:
        as_json([asdict(node) for node in nodes])
        return
    rows: list[tuple[str, ...]] = [(node.instance_id, node.state, f"{node.seconds:.1f}", node.reason) for node in nodes]
    console.print(_table(Section(f"Nodes of {stack}", ("node", "state", "seconds to the hook", "what failed"), rows)))
    if nodes:
        slowest = max(nodes, key=lambda node: node.seconds)
        steps: list[tuple[str, ...]] = [
            (step.step, step.event, f"{step.seconds:.2f}", step.bar(slowest.seconds, _BAR_WIDTH))
            for step in slowest.steps
        ]
        title = f"Steps of {slowest.instance_id}"
        console.print(_table(Section(title, ("step", "ended", "seconds", "when"), steps)))


def servers(found: list[dict[str, Any]]) -> None:
    """Show what is running."""
    for one in found:
        console.print(f"The local AWS on 127.0.0.1:{one['port']}: account {one['account']}, {one['region']}.")
        for stack, unfinished in one["stacks"].items():
            missing = [f"{name} ({kind.replace('_', ' ')})" for kind, names in unfinished.items() for name in names]
            console.print(f"  {stack}: {', '.join(missing) or 'everything created'}", markup=False)
            for trouble in one["troubles"].get(stack, []):
                console.print(f"    {trouble}", markup=False)


def _table(section: Section) -> Table:
    table = Table(title=f"\n{section.title}", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for column in section.columns:
        table.add_column(column, overflow="fold")
    for row in section.rows:
        table.add_row(*(escape(cell) for cell in row))
    return table
