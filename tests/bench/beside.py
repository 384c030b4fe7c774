"""`make bench`: the synthesis of a cluster, and of a tier, beside the same resources in plain aws-cdk-lib, in turn."""

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

from gpu_constructs import InferenceTier, ServingRuntime, TrainingCluster
from tests.bench.crossings import crossings
from tests.bench.plain import PlainCluster
from tests.bench.plain_tier import IMAGE, PlainTier

PAIRS = 60
RUNS = 12
WARM_UP = 5


def _app(create: Callable[[Stack], object]) -> None:
    app = App()
    create(Stack(app, "Stack"))
    app.synth()


def plain_cluster() -> None:
    """A cluster in plain aws-cdk-lib."""
    _app(lambda stack: PlainCluster(stack, "Cluster"))


def cluster() -> None:
    """The same by TrainingCluster."""
    _app(lambda stack: TrainingCluster(stack, "Cluster", instance_type="p4d.24xlarge", node_count=2))


def plain_tier() -> None:
    """A tier in plain aws-cdk-lib."""
    _app(lambda stack: PlainTier(stack, "Tier"))


def tier() -> None:
    """The same by InferenceTier."""
    server = ServingRuntime.triton(IMAGE)
    _app(lambda stack: InferenceTier(stack, "Tier", instance_types=["g5.xlarge"], runtime=server))


BESIDE: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {
    "TrainingCluster": (plain_cluster, cluster),
    "InferenceTier": (plain_tier, tier),
}


def _milliseconds(work: Callable[[], object]) -> float:
    gc.collect()
    began = perf_counter()
    work()
    return 1000 * (perf_counter() - began)


def _in_turn(console: Console, title: str, pairs: int, name: str, works: list[Callable[[], object]]) -> None:
    """Time both in turn, so that what slows the machine down slows both, and print the figures and their ratio."""
    times: list[list[float]] = [[] for _ in works]
    for pair in track(range(WARM_UP + pairs), title, console=console, transient=True):
        for took, work in zip(times, works, strict=True):
            milliseconds = _milliseconds(work)
            if pair >= WARM_UP:
                took.append(milliseconds)
    table = Table("", "min, ms", "median, ms", title=f"{title}, {pairs} times each", title_justify="left")
    plain, ours = times
    for what, took in (("plain aws-cdk-lib", plain), (name, ours)):
        table.add_row(what, f"{min(took):.1f}", f"{median(took):.1f}")
    ratios = [mine / other for mine, other in zip(ours, plain, strict=True)]
    table.add_row("ratio", f"{min(ours) / min(plain):.2f}", f"{median(ratios):.2f}")
    console.print(table)


def _as_app(work: Callable[[], None]) -> Callable[[], object]:
    """Return what runs one of them as an app of its own, as `cdk synth` does."""
    command = [sys.executable, "-c", f"from tests.bench import beside; beside.{work.__name__}()"]
    return partial(subprocess.run, command, check=True)


def main() -> None:
    """Print how long each takes beside plain aws-cdk-lib, and how often each asks CDK."""
    console = Console()
    for name, (plain, ours) in BESIDE.items():
        _in_turn(console, f"One more {name} in a running app", PAIRS, name, [plain, ours])
        _in_turn(console, f"An app with one {name}, whole", RUNS, name, [_as_app(plain), _as_app(ours)])
        console.print(f"Questions to CDK: {crossings(plain)} in plain aws-cdk-lib, {crossings(ours)} of {name}")


if __name__ == "__main__":
    main()
