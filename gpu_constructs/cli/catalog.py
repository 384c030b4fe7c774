"""`gpu-constructs catalog`: the facts about GPU instance types."""

from __future__ import annotations

import datetime
import json
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Exit, Option, Typer

from gpu_constructs.cli.show import console
from gpu_constructs.instances import refresh as rules

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client

commands = Typer(help="The facts about GPU instance types that the constructs rely on.", no_args_is_help=True)

_CATALOGUE = Path(str(files("gpu_constructs.instances"))) / "catalog.json"


@commands.callback()
def _commands() -> None:
    """Keeps `refresh` a word of its own while it is the only command."""


@commands.command()
def refresh(
    local: Annotated[
        bool, Option("--local", help="Ask a local AWS, whose data are a recording: no account, no network.")
    ] = False,
    region: Annotated[str, Option(help="Where to ask; EC2 describes types of other Regions too.")] = "us-east-1",
    output: Annotated[Path, Option(help="The file to write.", dir_okay=False)] = _CATALOGUE,
    check: Annotated[bool, Option("--check", help="Write nothing; exit with 1 if the file would change.")] = False,
) -> None:
    """Make catalog.json anew from EC2 DescribeInstanceTypes and extra.json."""
    described, source = _describe_locally(region) if local else _describe(region)
    catalogue = rules.merge(described, rules.extra(), source)
    text = rules.render(catalogue)
    before = output.read_text(encoding="utf-8") if output.exists() else '{"instances": {}}'
    for change in rules.changes(json.loads(before), catalogue):
        console.print(change, markup=False)
    count = len(catalogue["instances"])
    if text == before:
        console.print(f"{count} instance types; nothing to change.")
    elif check:
        console.print(f"{output} is not what EC2 and extra.json give.", markup=False)
        raise Exit(1)
    else:
        output.write_text(text, encoding="utf-8")
        console.print(f"{count} instance types written to {output}.", markup=False)


def _describe(region: str) -> tuple[list[dict[str, object]], str]:
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    client: EC2Client = boto3.client("ec2", region_name=region)
    try:
        described = rules.describe(client)
    except (BotoCoreError, ClientError) as error:
        console.print(f"EC2 did not answer: {error}. With --local no account is needed.", markup=False)
        raise Exit(1) from error
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    return described, f"EC2 DescribeInstanceTypes ({region}), read {today}"


def _describe_locally(region: str) -> tuple[list[dict[str, object]], str]:
    from gpu_constructs.local import LocalAws

    with LocalAws.start() as aws:
        described = rules.describe(aws.client("ec2", region))
    return described, f"EC2 DescribeInstanceTypes ({region}), as recorded in moto {version('moto')}"
