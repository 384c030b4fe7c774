"""Whether two ways to write a stack come to the same resources, whatever their ids."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from aws_cdk import App, Stack
from aws_cdk.assertions import Template
from constructs import Construct


def resources(stack: Stack) -> list[str]:
    """Return the resources of a stack in an order of their own, with types in the place of their ids."""
    template: Mapping[str, Any] = Template.from_stack(stack).to_json()
    text = json.dumps(list(template["Resources"].values()), sort_keys=True)
    # A longer id may begin with a shorter one.
    for name, resource in sorted(template["Resources"].items(), key=lambda one: -len(one[0])):
        text = text.replace(name, resource["Type"])
    return sorted(json.dumps(resource, sort_keys=True) for resource in json.loads(text))


def synthesised(create: Callable[[Stack], Construct]) -> Stack:
    """Return a stack of an app of its own, with what is created in it."""
    stack = Stack(App(), "Stack")
    create(stack)
    return stack
