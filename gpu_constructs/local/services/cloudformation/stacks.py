"""How stacks are created, updated and deleted: in order of dependency, with an event a resource, and rolled back.

moto applies a template in one go and lets any failure escape as a server error. Here a resource that fails says so in
an event of its own, from which the CDK command line reads the reason, and the stack is rolled back as AWS does.
"""

from __future__ import annotations

import copy
from typing import Any

from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.models import CloudFormationBackend, Stack
from moto.cloudformation.parsing import OutputMap, ResourceMap
from moto.ssm.models import ssm_backends

from gpu_constructs.local.services.cloudformation import progress, resources
from gpu_constructs.local.services.cloudformation.dependencies import CircularDependencyError, creation_order

_RETAINED = {"Retain", "RetainExceptOnCreate"}


def create_resources(stack: Stack) -> None:
    """Replaces `Stack.create_resources`: create everything, or roll back and say why."""
    progress.run(stack, _creating(stack))


def _creating(stack: Stack) -> progress.Steps:
    stack.status = "CREATE_IN_PROGRESS"
    outputs, stack.output_map = stack.output_map, _no_outputs(stack)
    try:
        for name in _wanted(stack):
            yield from resources.create(stack, name)
    except resources.FailedError as error:
        _add_event(stack, "ROLLBACK_IN_PROGRESS", str(error))
        failed = _delete(stack, _existing(stack), keep={"Retain"})
        _add_event(stack, "ROLLBACK_FAILED" if failed else "ROLLBACK_COMPLETE", _why(failed))
        return
    stack.output_map = outputs
    stack.description = stack.template_dict.get("Description")
    _add_event(stack, "CREATE_COMPLETE")


def update(
    stack: Stack,
    template: str,
    role_arn: str | None = None,
    parameters: dict[str, Any] | None = None,
    tags: dict[str, str] | None = None,
) -> None:
    """Replaces `Stack.update`: change what differs, or go back to what was there and say why."""
    progress.refuse_if_running(stack, "updated")
    stack.role_arn = role_arn
    stack.tags = stack.tags if tags is None else tags
    progress.run(stack, _updating(stack, template, parameters or {}))


def _updating(stack: Stack, template: str, parameters: dict[str, Any]) -> progress.Steps:
    before, parameters_before = stack.template, dict(stack.parameters)
    _add_event(stack, "UPDATE_IN_PROGRESS", "User Initiated")
    try:
        yield from _apply(stack, template, parameters)
    except resources.FailedError as error:
        _add_event(stack, "UPDATE_ROLLBACK_IN_PROGRESS", str(error))
        try:
            yield from _apply(stack, before, parameters_before)
        except resources.FailedError as second:
            _add_event(stack, "UPDATE_ROLLBACK_FAILED", str(second))
        else:
            _add_event(stack, "UPDATE_ROLLBACK_COMPLETE")
        return
    _add_event(stack, "UPDATE_COMPLETE")


def delete_stack(backend: CloudFormationBackend, name_or_stack_id: str) -> None:
    """Replaces `CloudFormationBackend.delete_stack`: in reverse order; what fails stays, and the stack with it."""
    stack = next((s for s in backend.stacks.values() if name_or_stack_id in {s.name, s.stack_id}), None)
    if stack is None:
        return  # as AWS: deleting what is not there succeeds
    if stack.status != "CREATE_IN_PROGRESS":
        progress.refuse_if_running(stack, "deleted")
    progress.abandon(stack)
    _add_event(stack, "DELETE_IN_PROGRESS", "User Initiated")
    exported = [export.name for export in stack.exports]
    stack.output_map = _no_outputs(stack)
    failed = _delete(stack, _existing(stack), keep=_RETAINED)
    if failed:
        _add_event(stack, "DELETE_FAILED", _why(failed))
        return
    for name in exported:
        backend.exports.pop(name, None)
    _add_event(stack, "DELETE_COMPLETE")
    backend.deleted_stacks[stack.stack_id] = backend.stacks.pop(stack.stack_id)


def resolve_update_parameters(
    backend: CloudFormationBackend, instance: Any, incoming_params: list[dict[str, Any]]
) -> dict[str, str]:
    """Replaces `_resolve_update_parameters`, which fails on "use the previous value" of a parameter never passed.

    The CDK command line sends that for each parameter with a default, such as the SSM parameter of an AMI. Leaving it
    out takes the template's default again, which for an SSM parameter means to look it up again, as AWS does.
    """
    del backend
    given = {p["ParameterKey"]: p["ParameterValue"] for p in incoming_params if "ParameterValue" in p}
    kept = {p["ParameterKey"] for p in incoming_params if p.get("UsePreviousValue")}
    return {**{key: value for key, value in instance.parameters.items() if key in kept}, **given}


def parse_ssm_parameter(resource_map: ResourceMap, value: str, value_type: str) -> str | list[str]:
    """Replaces `ResourceMap.parse_ssm_parameter`, which does not say which parameter is missing."""
    parameter = ssm_backends[resource_map._account_id][resource_map._region_name].get_parameter(value)
    if parameter is None:
        message = f"Unable to fetch parameters [{value}] from parameter store for this account."
        raise ValidationError(resource_map.stack_id, message=message)
    return parameter.value.split(",") if "List" in value_type else parameter.value


def execute_change_set(backend: CloudFormationBackend, change_set_name: str, stack_name: str | None = None) -> None:
    """Replaces `CloudFormationBackend.execute_change_set`: as if the stack had been created or updated directly."""
    found = backend.change_sets.values()
    change_set = next((c for c in found if change_set_name in {c.change_set_id, c.change_set_name}), None)
    if change_set is None:
        raise ValidationError(stack_name, message=f"ChangeSet [{change_set_name}] does not exist")
    stack = backend.stacks[change_set.stack_id]
    if change_set.change_set_type == "CREATE":
        _load(stack, change_set.template, change_set.parameters)
        _add_event(stack, "CREATE_IN_PROGRESS", "User Initiated")
        create_resources(stack)
    else:
        update(stack, change_set.template, change_set.role_arn, change_set.parameters, change_set.tags)
    change_set.execution_status = "EXECUTE_COMPLETE"


def delete_change_set(backend: CloudFormationBackend, change_set_name: str) -> None:
    """Replaces `CloudFormationBackend.delete_change_set`, which fails where there is none: AWS does not."""
    for change_set_id, change_set in list(backend.change_sets.items()):
        if change_set_name in {change_set_id, change_set.change_set_name}:
            del backend.change_sets[change_set_id]


def _load(stack: Stack, template: str | dict[str, Any], parameters: dict[str, Any]) -> None:
    """Take a template: what it defines, its parameters and conditions; nothing is created yet."""
    stack.template = template
    stack._parse_template()
    stack.parameters = parameters
    known = stack.resource_map
    known._template = copy.deepcopy(stack.template_dict)
    known._resource_json_map = known._template["Resources"]
    known.input_parameters = parameters
    known.resolved_parameters = {}
    known.load_mapping()
    known.load_parameters()
    known.load_conditions()
    stack.output_map = stack._create_output_map()


def _apply(stack: Stack, template: str | dict[str, Any], parameters: dict[str, Any]) -> progress.Steps:
    """Bring what exists to `template`: create and change in order of dependency, then delete what is gone."""
    existed = _existing(stack)
    _load(stack, template, parameters)
    outputs, stack.output_map = stack.output_map, _no_outputs(stack)
    wanted = _wanted(stack)
    for name in wanted:
        change = resources.update if name in existed else resources.create
        yield from change(stack, name)
    stack.output_map = outputs
    failed = _delete(stack, [name for name in existed if name not in wanted], keep=_RETAINED)
    if failed:
        raise resources.FailedError(_why(failed))


def _wanted(stack: Stack) -> list[str]:
    """Logical ids in order of creation, without those whose condition is false."""
    definitions = stack.template_dict.get("Resources", {})
    conditions = stack.resource_map.lazy_condition_map
    try:
        order = creation_order(definitions)
    except CircularDependencyError as error:
        raise ValidationError(stack.stack_id, message=str(error)) from error
    return [
        name for name in order if "Condition" not in definitions[name] or conditions[definitions[name]["Condition"]]
    ]


def _existing(stack: Stack) -> list[str]:
    """Logical ids of what exists, in order of creation."""
    return list(resources.definitions_of(stack))


def _delete(stack: Stack, names: list[str], keep: set[str]) -> list[str]:
    """Delete in reverse order of creation and return what failed.

    Twice over, because some things hold each other without a reference in the template (two security groups by rules
    added later): the second round finds them free.
    """
    left = list(reversed(names))
    for _ in range(2):
        left = [name for name in left if not resources.delete(stack, name, keep)]
    return left


def _no_outputs(stack: Stack) -> OutputMap:
    """Outputs are worked out at each look, which would fail on what is not there yet, or no more."""
    return OutputMap(stack.resource_map, {"Outputs": {}}, stack.stack_id)


def _why(failed: list[str]) -> str | None:
    return f"The following resource(s) failed to delete: [{', '.join(failed)}]. " if failed else None


def _add_event(stack: Stack, status: str, reason: str | None = None) -> None:
    stack.status = status
    stack._add_stack_event(status, resource_status_reason=reason)
