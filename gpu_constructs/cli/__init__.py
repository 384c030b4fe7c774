"""The `gpu-constructs` command."""

from __future__ import annotations

import sys

from rich.markup import escape
from typer import Typer

from gpu_constructs.cli import catalog, local, show
from gpu_constructs.local.errors import LocalAwsError

app = Typer(
    name="gpu-constructs",
    help="GPU clusters on AWS: what surrounds the constructs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(catalog.commands, name="catalog")
app.add_typer(local.commands, name="local")


def main() -> None:
    """Run the command; 1 and one line for what the user can do something about, 130 when interrupted."""
    try:
        app()
    except LocalAwsError as error:
        show.error_console().print(f"[red]error:[/red] {escape(str(error))}")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
