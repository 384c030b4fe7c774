"""What jsii lets pass and then drops, or hangs on, is not in the code: dictionaries for structs, threads beside CDK."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted([*ROOT.glob("gpu_constructs/**/*.py"), *ROOT.glob("examples/**/*.py")])


def _dictionaries(source: str) -> list[str]:
    """Return the calls of L1 constructs and of structs that are given a dictionary, or a list of some."""
    found = []
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
        name = ast.unparse(call.func).rpartition(".")[2]
        if not (name.startswith("Cfn") or name.endswith("Property")):
            continue
        values = [keyword.value for keyword in call.keywords]
        parts = [part for value in values for part in (value.elts if isinstance(value, ast.List) else [value])]
        found += [f"{name} in line {part.lineno}" for part in parts if isinstance(part, ast.Dict)]
    return found


def _imports(source: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('ec2.CfnLaunchTemplate(self, "T", launch_template_data={"instance_type": "g5.xlarge"})', 1),
        ('CfnX(self, "X", rules=[{"a": 1}, CfnX.RuleProperty(b={"c": 2})])', 2),
        ("CfnX.RuleProperty(b=CfnX.PartProperty(c=2))", 0),
        ('template.add_property_override("Data", {"InstanceType": "g5.xlarge"})', 0),
    ],
)
def test_dictionary_in_place_of_a_struct_is_seen(source: str, count: int) -> None:
    assert len(_dictionaries(source)) == count


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(ROOT)))
def test_structs_are_typed(module: Path) -> None:
    """https://github.com/aws/jsii/issues/973: snake_case keys of a dictionary are dropped without a word."""
    assert _dictionaries(module.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(ROOT)))
def test_no_threads_beside_cdk(module: Path) -> None:
    """https://github.com/aws/jsii/issues/4311: constructs made in several threads hang for ever."""
    imported = _imports(module.read_text(encoding="utf-8"))
    assert "aws_cdk" not in imported or not imported & {"threading", "concurrent", "asyncio", "multiprocessing"}
