"""CloudFormation of the local AWS: stacks that roll back, resource types that moto lacks, and what was not created."""

from __future__ import annotations

from typing import Any

from moto.cloudformation import parsing
from moto.cloudformation.models import CloudFormationBackend, Stack, cloudformation_backends
from moto.cloudformation.parsing import ResourceMap
from moto.cloudformation.responses import CloudFormationResponse

from gpu_constructs.local import extend
from gpu_constructs.local.services.cloudformation import functions, progress, resource_types, resources, signals, stacks

LocalResource = resource_types.LocalResource
refuse_replacement_of = resource_types.refuse_replacement_of
tick = progress.tick
whole_number = resource_types.whole_number


def install() -> None:
    """Put the local AWS's handling of stacks in the place of moto's."""
    extend.replace_method(parsing, resource_types.class_for, "resource_class_from_type")
    extend.replace_method(parsing, functions.resolving_zones(parsing.clean_json), "clean_json")
    extend.replace_method(ResourceMap, resources.existing, "__getitem__")
    extend.replace_method(Stack, property(resources.existing_of), "stack_resources")
    extend.replace_method(Stack, stacks.create_resources)
    extend.replace_method(Stack, stacks.update)
    extend.replace_method(ResourceMap, stacks.parse_ssm_parameter)
    extend.add_method(CloudFormationResponse, signals.signal_resource)
    extend.replace_method(CloudFormationBackend, stacks.delete_stack)
    extend.replace_method(CloudFormationBackend, stacks.execute_change_set)
    extend.replace_method(CloudFormationBackend, stacks.delete_change_set)
    extend.replace_method(CloudFormationBackend, stacks.resolve_update_parameters, "_resolve_update_parameters")


def unfinished(account_id: str) -> dict[str, dict[str, dict[str, str]]]:
    """What templates hold that was not done, in all Regions: stack name, then kind, then logical id to type."""
    return {
        stack.name: _unfinished(stack)
        for backend in cloudformation_backends[account_id].values()
        for stack in backend.stacks.values()
    }


def _unfinished(stack: Stack) -> dict[str, dict[str, str]]:
    not_created: dict[str, str] = {}
    not_run: dict[str, str] = {}
    for name, definition in resources.definitions_of(stack).items():
        resource: Any = stack.resource_map[name]
        if isinstance(resource, resource_types.NotRun):
            not_run[name] = definition["Type"]
        elif (
            isinstance(resource, resource_types.NotCreated) and definition["Type"] not in resource_types.WITHOUT_EFFECT
        ):
            not_created[name] = definition["Type"]
    not_updated = {name: stack.template_dict["Resources"][name]["Type"] for name in resources.not_updated(stack)}
    return {"not_created": not_created, "not_run": not_run, "not_updated": not_updated}
