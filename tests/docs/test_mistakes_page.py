"""The tests that the page names are there, and what is refused has a neighbour that is not."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "mistakes.md"
HEAD = ["mistake", "told by", "shown by", "correct neighbour"]
SAME = "same test"


@dataclass(frozen=True)
class Row:
    mistake: str
    told_by: str
    shown_by: str
    neighbour: str

    @property
    def tests(self) -> list[str]:
        return [span for cell in (self.shown_by, self.neighbour) for span in re.findall(r"`([^`]+)`", cell)]


def _tables() -> list[list[list[str]]]:
    """Return the cells of each table, without the line below its head."""
    tables = re.findall(r"(?:^\|.*\n)+", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    cells = [[[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()] for table in tables]
    return [[table[0], *table[2:]] for table in cells]


ROWS = [Row(*line) for table in _tables() if table[0] == HEAD for line in table[1:]]


@cache
def _functions(path: Path) -> dict[str, ast.FunctionDef]:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


@cache
def _said() -> list[str]:
    """Return every text in the package, those in pieces put together as Python does."""
    modules = (ROOT / "gpu_constructs").glob("**/*.py")
    nodes = (node for module in modules for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))))
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _resolve(test: str) -> ast.FunctionDef | None:
    """Return a test by "path::name" or "path::name[argument]", where the argument is one of its parametrize marks."""
    match = re.fullmatch(r"([\w/]+\.py)::(test_\w+)(?:\[(.+)\])?", test)
    assert match, test
    path, name, argument = match.groups()
    found = _functions(ROOT / "tests" / path).get(name)
    if found is None or argument is None:
        return found
    marks = [mark for mark in found.decorator_list if ast.unparse(mark).startswith("pytest.mark.parametrize")]
    wanted = ast.dump(ast.parse(argument, mode="eval").body)
    arguments = (node for mark in marks for node in ast.walk(mark) if isinstance(node, ast.expr))
    texts = {ast.dump(node) for node in arguments}
    is_text = wanted.startswith("Constant")
    begun = is_text and any(ast.literal_eval(argument) in text for text in map(_text, marks))
    return found if wanted in texts or begun else None


def _text(mark: ast.expr) -> str:
    return "\n".join(str(node.value) for node in ast.walk(mark) if isinstance(node, ast.Constant))


def _checks(test: ast.FunctionDef) -> int:
    return sum(isinstance(node, ast.Assert | ast.With) for node in ast.walk(test))


def test_the_page_has_a_table_for_each_subject() -> None:
    assert len([table for table in _tables() if table[0] == HEAD]) == 7
    assert len(ROWS) > 100


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.mistake[:60])
def test_every_test_that_is_named_exists_and_is_named_once(row: Row) -> None:
    assert row.tests
    assert len(row.tests) == len(set(row.tests))
    assert [test for test in row.tests if _resolve(test) is None] == []


@pytest.mark.parametrize("row", [row for row in ROWS if "**refused**" in row.told_by], ids=lambda row: row.mistake[:60])
def test_what_is_refused_has_a_neighbour_that_is_accepted(row: Row) -> None:
    assert row.neighbour
    if row.neighbour == SAME:
        # The last test that is named holds both sides: in one case of several, or in two statements.
        test = _resolve(row.tests[-1])
        assert test
        marks = any("parametrize" in ast.unparse(mark) for mark in test.decorator_list)
        assert marks or _checks(test) > 1 or any(isinstance(node, ast.For) for node in ast.walk(test))


@pytest.mark.parametrize("row", [row for row in ROWS if "**refused**" in row.told_by], ids=lambda row: row.mistake[:60])
def test_errors_of_aws_are_those_of_the_messages(row: Row) -> None:
    for error in re.findall(r'"([^"/]+)"', row.mistake):
        assert any(error in text for text in _said()), error


def test_a_test_that_is_not_there_is_seen() -> None:
    there = "storage/test_lustre_kinds.py::test_rule"
    assert _resolve(there)
    assert _resolve(f"{there}[Lustre.scratch(3600)]")
    assert _resolve(f"{there}[Lustre.scratch(3601)]") is None
    assert _resolve("storage/test_lustre_kinds.py::test_nothing") is None


def test_the_readme_leads_here() -> None:
    assert "(docs/mistakes.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
