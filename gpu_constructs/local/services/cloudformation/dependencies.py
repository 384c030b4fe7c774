"""In which order the resources of a template are created, and in reverse deleted: pure functions over the template."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

_SUB_REFERENCE = re.compile(r"\$\{([^!}][^}]*)\}")


class CircularDependencyError(ValueError):
    """Resources of a template that need each other."""


def references(value: Any) -> Iterator[str]:
    """Every name that `value` refers to by Ref, Fn::GetAtt, Fn::Sub, at any depth (parameters included)."""
    if isinstance(value, list):
        for item in value:
            yield from references(item)
    if not isinstance(value, Mapping):
        return
    for key, inner in value.items():
        if key == "Ref" and isinstance(inner, str):
            yield inner
        elif key == "Fn::GetAtt":
            yield inner.split(".")[0] if isinstance(inner, str) else inner[0]
        elif key == "Fn::Sub":
            text, variables = (inner, {}) if isinstance(inner, str) else (inner[0], inner[1])
            yield from (name.split(".")[0] for name in _SUB_REFERENCE.findall(text) if name not in variables)
            yield from references(variables)
        else:
            yield from references(inner)


def creation_order(resources: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Logical ids, each after everything it depends on, else in the template's own order.

    Args:
        resources: The `Resources` of a template.

    Raises:
        CircularDependencyError: Resources need each other; the message is CloudFormation's.
    """
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for name, resource in resources.items():
        depends_on = resource.get("DependsOn", [])
        named = [depends_on] if isinstance(depends_on, str) else list(depends_on)
        needed = [*named, *references(resource.get("Properties", {}))]
        sorter.add(name, *(other for other in needed if other in resources and other != name))
    try:
        return list(sorter.static_order())
    except CycleError as error:
        names = sorted(set(error.args[1]))
        raise CircularDependencyError(f"Circular dependency between resources: [{', '.join(names)}]") from error
