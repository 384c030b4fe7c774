"""What the documentation shows is what runs: its Python is the text of an example file, its shell is run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_constructs.local.cdk import _jsii_cache

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*/README.md")])
NAMED = re.compile(r"<!-- (examples/\S+\.py) -->\n```python\n(.*?)```", re.DOTALL)
BIN = Path(sys.executable).parent


def _named(page: Path) -> list[tuple[str, str]]:
    return NAMED.findall(page.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_python_block_names_the_example_that_it_is(page: Path) -> None:
    assert page.read_text().count("```python\n") == len(_named(page))
    for name, block in _named(page):
        source = (ROOT / name).read_text()
        without_docstring = re.sub(r'^""".*?"""\n+', "", source, count=1, flags=re.DOTALL)
        assert block == without_docstring


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def _run(command: list[str], tmp_path: Path) -> str:
    environment = {
        "PATH": f"{BIN}:{os.defpath}",
        "HOME": str(tmp_path),
        "GPU_CONSTRUCTS_LOCAL_HOME": str(tmp_path / "local"),
        "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(_jsii_cache()),
    }
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_smallest_app_has_ten_lines_and_synthesises(tmp_path: Path) -> None:
    lines = (ROOT / "examples" / "training" / "minimal.py").read_text().splitlines()[1:]
    assert len([line for line in lines if line]) <= 10
    assert _run([sys.executable, "examples/training/minimal.py"], tmp_path) == ""


def test_the_message_that_the_readme_shows_is_the_one_that_users_get(tmp_path: Path) -> None:
    shown = re.search(r"```text\n(Training/Cluster: 2 problems.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert shown
    source = (ROOT / "examples" / "training" / "minimal.py").read_text()
    mistaken = source.replace("p4d.24xlarge", "p4d.24xlrge").replace("import Training", "import Lustre, Training")
    app = tmp_path / "app.py"
    app.write_text(mistaken.replace("node_count=2", "node_count=2, file_system=Lustre.scratch(1300)"))

    done = subprocess.run([sys.executable, str(app)], cwd=tmp_path, capture_output=True, text=True, check=False)

    said = done.stderr.splitlines()[-3:]
    for line, cut in zip(said, shown[1].splitlines(), strict=True):
        assert line.removeprefix("gpu_constructs.errors.GpuConstructsError: ").startswith(cut.removesuffix("..."))


@pytest.mark.parametrize(
    ("example", "printed"),
    [
        ("deploy_and_ask.py", ["['Pending:Wait', 'Pending:Wait']", "{}"]),
        ("boot_nodes.py", ["0 1", "True", "['InService', 'Pending:Wait']"]),
        ("boot_hook.py", ["Pending:Wait", "True", "InService"]),
        ("metadata.py", ["p5.48xlarge", "True", "Terminated", "[503, 200, 200]"]),
    ],
)
def test_the_examples_of_the_local_aws_print_what_the_page_says(
    example: str, printed: list[str], tmp_path: Path
) -> None:
    assert _run([sys.executable, f"examples/local_aws/{example}"], tmp_path).splitlines() == printed


def test_the_shell_session_of_the_local_aws_works_as_written(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "local_aws.md").read_text()
    session = re.search(r"```sh\n(gpu-constructs local up.*?)```", page, re.DOTALL)
    assert session
    script = "set -e\n" + session[1].replace("--port 5051", "--port 0")  # whatever runs on the developer's machine

    printed = _run(["/bin/sh", "-c", script], tmp_path)

    assert "TrainingStack: CREATE_COMPLETE" in printed
    assert "is stopped; everything in it is gone." in printed
    assert list((tmp_path / "local").glob("server-*")) == []
