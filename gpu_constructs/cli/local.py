"""`gpu-constructs local`: a local AWS to deploy to, without an account."""

from __future__ import annotations

import shlex
import signal
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Annotated, Any

from rich.markup import escape
from typer import Argument, Exit, Option, Typer

from gpu_constructs.cli import show
from gpu_constructs.cli.progress import Progress
from gpu_constructs.cli.show import console
from gpu_constructs.local import CdkCli, LocalAws, LocalAwsError, report, retained, troubles
from gpu_constructs.local import process as defaults
from gpu_constructs.local.nodes import boots

commands = Typer(help="A local AWS to deploy to, on loopback, without an account.", no_args_is_help=True)

Stacks = Annotated[list[str] | None, Argument(help="Stacks, as the app names them; by default all.")]
App = Annotated[str | None, Option(help="Command that synthesises the app; by default what its cdk.json says.")]
Port = Annotated[int | None, Option(help="Port of the local AWS; needed only if several are running.")]
Project = Annotated[Path, Option(help="Folder of the CDK app.", exists=True, file_okay=False)]
Context = Annotated[list[str] | None, Option("--context", "-c", help="Value for the app, as KEY=VALUE.")]
Region = Annotated[str | None, Option(help="Region to deploy to; by default the local AWS's own.")]
Verbose = Annotated[bool, Option("--verbose", "-v", help="Print every line of the CDK command line.")]
AsJson = Annotated[bool, Option("--json", help="Print JSON, for machines.")]


@commands.command()
def up(
    port: Annotated[int, Option(help="Where to listen; 0 takes any free port.")] = defaults.DEFAULT_PORT,
    account: Annotated[str, Option(help="Account id of everything in it.")] = defaults.DEFAULT_ACCOUNT,
    region: Annotated[str, Option(help="Default Region.")] = defaults.DEFAULT_REGION,
    json_output: AsJson = False,
) -> None:
    """Start a local AWS and leave it running, until `down`."""
    aws = LocalAws.start(port=port, account=account, region=region, outlive_this_process=True)
    if json_output:
        show.as_json(aws.status())
        return
    console.print(f"The local AWS answers on 127.0.0.1:{aws.port} (account {aws.account}, {aws.region}).")
    console.print("Deploy to it: gpu-constructs local deploy. Stop it: gpu-constructs local down.")


@commands.command()
def deploy(
    stacks: Stacks = None,
    project: Project = Path(),
    app: App = None,
    port: Port = None,
    region: Region = None,
    context: Context = None,
    verbose: Verbose = False,
    json_output: AsJson = False,
) -> None:
    """Deploy stacks of a CDK app with the real CDK command line, and show what was created."""
    aws = LocalAws.find(port)
    before = _stacks(aws, region)
    with Progress(show.progress_console(json_output=json_output), verbose=verbose) as say:
        CdkCli(aws, project, app=app, say=say, region=region).deploy(*(stacks or ()), context=context or ())
    deployed = stacks or [name for name in _stacks(aws, region) if name not in before] or before
    for stack in deployed:
        show.report(report.read(aws, stack, region), json_output=json_output)


@commands.command()
def destroy(
    stacks: Stacks = None,
    project: Project = Path(),
    app: App = None,
    port: Port = None,
    region: Region = None,
    context: Context = None,
    verbose: Verbose = False,
) -> None:
    """Destroy stacks of a CDK app with the real CDK command line; what is retained by design stays."""
    aws = LocalAws.find(port)
    with Progress(console, verbose=verbose) as say:
        CdkCli(aws, project, app=app, say=say, region=region).destroy(*(stacks or ()), context=context or ())


@commands.command()
def status(
    port: Port = None,
    env: Annotated[
        bool, Option("--env", help="Print the environment with which other AWS clients talk to it.")
    ] = False,
    json_output: AsJson = False,
) -> None:
    """Show what is running, and of each stack what was not done and what went wrong with its nodes."""
    if env:
        for name, value in LocalAws.find(port).environment().items():
            console.print(f"export {name}={shlex.quote(value)}", markup=False)
        return
    found = [_status(aws) for aws in LocalAws.running() if port in {None, aws.port}]
    if json_output:
        show.as_json(found)
    elif not found:
        console.print("No local AWS is running; start one with `gpu-constructs local up`.")
    else:
        show.servers(found)


def _status(aws: LocalAws) -> dict[str, Any]:
    """What it says of itself, and `troubles`: what went wrong with the nodes of each stack."""
    said = aws.status()
    return {**said, "troubles": {stack: troubles.of_stack(aws, stack) for stack in said["stacks"]}}


@commands.command()
def boot(
    stack: Annotated[str, Argument(help="A stack that is deployed to the local AWS.")],
    port: Port = None,
    region: Region = None,
    folder: Annotated[
        Path | None, Option(help="Where the nodes have their files, and leave them; by default nowhere.")
    ] = None,
    json_output: AsJson = False,
) -> None:
    """Boot the nodes of a deployed stack as processes, by their real user data, and show how long each step took.

    Linux only. Exits with 1 if a node does not come into service.
    """
    aws = LocalAws.find(port)
    groups = _groups(aws, stack, region)
    if not groups:
        raise LocalAwsError(f"{stack} has no Auto Scaling group, so it has no nodes to boot")
    with TemporaryDirectory() as temporary, Progress(show.progress_console(json_output=json_output)) as say:
        booted = [node for group in groups for node in boots.boot(aws, group, folder or Path(temporary), say)]
    show.boots(stack, booted, json_output=json_output)
    if not all(node.in_service for node in booted):
        raise Exit(1)


def _groups(aws: LocalAws, stack: str, region: str | None) -> list[str]:
    found = aws.client("cloudformation", region).describe_stack_resources(StackName=stack)["StackResources"]
    return [one["PhysicalResourceId"] for one in found if one["ResourceType"] == "AWS::AutoScaling::AutoScalingGroup"]


@commands.command()
def down(
    port: Port = None,
    every: Annotated[bool, Option("--all", help="Stop all that are running.")] = False,
) -> None:
    """Stop a local AWS. Everything in it is gone."""
    for aws in LocalAws.running() if every else [LocalAws.find(port)]:
        aws.stop()
        console.print(f"The local AWS on port {aws.port} is stopped; everything in it is gone.")


@commands.command()
def demo(
    stacks: Annotated[list[str], Argument(help="Stacks, as the app names them.")],
    project: Project = Path(),
    app: App = None,
    context: Context = None,
    verbose: Verbose = False,
) -> None:
    """Start a local AWS, deploy stacks into it, show what was created, remove everything and stop."""
    # A `kill` cleans up as Ctrl-C does, and so does Ctrl-C itself where the shell has it ignored (in the background).
    for interruption in (signal.SIGTERM, signal.SIGINT):
        signal.signal(interruption, _interrupt)
    started = time.monotonic()
    names = ", ".join(stacks)
    _step(1, "Starting a local AWS on loopback; no account, no key of yours is used")
    with LocalAws.start() as aws:
        _step(2, f"Deploying {names} into it with the real CDK command line (about half a minute)")
        with Progress(console, verbose=verbose) as say:
            CdkCli(aws, project, app=app, say=say).deploy(*stacks, context=context or ())
        _step(3, "Booting its nodes, as processes of this machine, by the user data of their launch template")
        _boot_all(aws, stacks)
        _step(4, "What was created")
        for stack in stacks:
            show.report(report.read(aws, stack))
        _step(5, f"Removing {names}")
        left = [one for stack in stacks for one in retained.of_stack(aws, stack)]
        with Progress(console, verbose=verbose) as say:
            CdkCli(aws, project, app=app, say=say).destroy(*stacks, context=context or ())
        for one in left:
            objects = retained.empty(aws, one)
            emptied = f", emptied of {objects} objects" if one.type == "AWS::S3::Bucket" else ""
            console.print(f"Kept by design: {one.physical_id} ({one.type}, {one.logical_id}){emptied}.")
    console.print(f"\nDone in {time.monotonic() - started:.0f} s. The local AWS is stopped; nothing is left running.")


def _boot_all(aws: LocalAws, stacks: list[str]) -> None:
    """Boot the nodes of stacks where that can be: each has a loopback address of its own, which only Linux gives."""
    with_nodes = [stack for stack in stacks if _groups(aws, stack, None)]
    if not with_nodes or sys.platform != "linux":
        console.print("No nodes to boot." if not with_nodes else "Left out: nodes boot here on Linux alone.")
        return
    for stack in with_nodes:
        with TemporaryDirectory() as folder, Progress(console) as say:
            booted = [node for group in _groups(aws, stack, None) for node in boots.boot(aws, group, Path(folder), say)]
        show.boots(stack, booted)


def _stacks(aws: LocalAws, region: str | None) -> list[str]:
    found = aws.client("cloudformation", region).describe_stacks()["Stacks"]
    return [stack["StackName"] for stack in found if stack["StackName"] != "CDKToolkit"]


def _step(number: int, what: str) -> None:
    console.print(f"\n[bold cyan]{number}/5[/bold cyan] [bold]{escape(what)}[/bold]")


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
