"""`make bench`: the synthesis of a cluster beside the same resources in plain aws-cdk-lib, turn by turn."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter

from aws_cdk import App, Stack
from rich.console import Console
from rich.progress import track
from rich.table import Table

from gpu_constructs import TrainingCluster
from tests.bench.crossings import crossings
from tests.bench.plain import PlainCluster

PAIRS = 60
RUNS = 12
WARM_UP = 5


def _plain() -> None:
    app = App()
    PlainCluster(Stack(app, "Stack"), "Cluster")
    app.synth()


def _ours() -> None:
    app = App()
    TrainingCluster(Stack(app, "Stack"), "Cluster", instance_type="p4d.24xlarge", node_count=2)
    app.synth()


def _milliseconds(work: Callable[[], object]) -> float:
    gc.collect()
    began = perf_counter()
    work()
    return 1000 * (perf_counter() - began)


def _in_turn(console: Console, title: str, pairs: int, works: list[Callable[[], object]]) -> None:
    """Time both in turn, so that what slows the machine down slows both, and print the figures and their ratio."""
    times: list[list[float]] = [[] for _ in works]
    for pair in track(range(WARM_UP + pairs), title, console=console, transient=True):
        for took, work in zip(times, works, strict=True):
            milliseconds = _milliseconds(work)
            if pair >= WARM_UP:
                took.append(milliseconds)
    table = Table("", "min, ms", "median, ms", title=f"{title}, {pairs} times each", title_justify="left")
    plain, ours = times
    for name, took in (("plain aws-cdk-lib", plain), ("TrainingCluster", ours)):
        table.add_row(name, f"{min(took):.1f}", f"{median(took):.1f}")
    ratios = [mine / other for mine, other in zip(ours, plain, strict=True)]
    table.add_row("ratio", f"{min(ours) / min(plain):.2f}", f"{median(ratios):.2f}")
    console.print(table)


def _as_app(name: str) -> Callable[[], object]:
    """Return what runs one of them as an app of its own, as `cdk synth` does."""
    command = [sys.executable, "-c", f"from tests.bench import beside; beside.{name}()"]
    return partial(subprocess.run, command, check=True)


def main() -> None:
    """Print how long a cluster takes beside plain aws-cdk-lib, and how often each asks CDK."""
    console = Console()
    _in_turn(console, "One more cluster in a running app", PAIRS, [_plain, _ours])
    _in_turn(console, "An app with one cluster, from its start to its end", RUNS, [_as_app("_plain"), _as_app("_ours")])
    console.print(f"Questions to CDK: {crossings(_plain)} in plain aws-cdk-lib, {crossings(_ours)} of TrainingCluster")


if __name__ == "__main__":
    main()
