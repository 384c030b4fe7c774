"""One resource of a stack: created, updated or deleted, each with its event and its reason when it fails."""

from __future__ import annotations

import copy
import logging
from typing import Any

from moto.cloudformation import parsing
from moto.cloudformation.models import Event, Stack
from moto.core.common_models import CloudFormationModel
from moto.ec2.models import ec2_backends
from moto.ec2.models.core import TaggedEC2Resource

from gpu_constructs.local.services.cloudformation import deletions, progress, signals

_NO_DELETION = "the local AWS cannot delete this type; it stays until the local AWS is stopped"

_log = logging.getLogger(__name__)

_definitions: dict[str, dict[str, dict[str, Any]]] = {}
_not_updated: dict[str, list[str]] = {}


class FailedError(Exception):
    """A resource could not be created, updated or deleted; its event is written already."""


def definitions_of(stack: Stack) -> dict[str, dict[str, Any]]:
    """What exists of a stack: logical id to definition with references resolved, in order of creation."""
    return _definitions.setdefault(stack.stack_id, {})


def not_updated(stack: Stack) -> list[str]:
    """Logical ids whose definition changed although moto cannot update their type: they were left as they are."""
    return _not_updated.setdefault(stack.stack_id, [])


def create(stack: Stack, name: str) -> progress.Steps:
    """Create the resource with logical id `name`, and wait for what its stack has to wait for.

    Raises:
        FailedError: It could not be created.
    """
    resource_type = stack.template_dict["Resources"][name]["Type"]
    _add_event(stack, name, resource_type, "CREATE_IN_PROGRESS")
    try:
        definition = _resolve(stack, name)
        resource: Any = parsing.parse_and_create_resource(
            name,
            copy.deepcopy(stack.template_dict["Resources"][name]),
            stack.resource_map,
            stack.account_id,
            stack.region_name,
        )
        stack.resource_map._parsed_resources[name] = resource
        _tag(stack, name, resource)
        physical_id: str = resource.physical_resource_id
        # It exists from here on, whatever comes of the waiting: a rollback has to delete it.
        definitions_of(stack)[name] = definition
        yield from _settled(stack, name, definition, None)
    except Exception as error:
        raise _failed(stack, name, resource_type, "CREATE_FAILED", error) from error
    _add_event(stack, name, resource_type, "CREATE_COMPLETE", physical_id)


def update(stack: Stack, name: str) -> progress.Steps:
    """Update the resource with logical id `name`, if its definition differs from what was applied last.

    Raises:
        FailedError: It could not be updated.
    """
    existing = definitions_of(stack)
    resource_type = stack.template_dict["Resources"][name]["Type"]
    try:
        definition = _resolve(stack, name)
        if definition == existing[name]:
            return
        _add_event(stack, name, resource_type, "UPDATE_IN_PROGRESS")
        before = existing[name]
        if definition["Type"] == existing[name]["Type"] and _can_update(resource_type):
            changed: Any = parsing.parse_and_update_resource(
                name,
                copy.deepcopy(stack.template_dict["Resources"][name]),
                stack.resource_map,
                stack.account_id,
                stack.region_name,
            )
            stack.resource_map._parsed_resources[name] = changed
            _tag(stack, name, changed)
        elif name not in not_updated(stack):
            not_updated(stack).append(name)
        # It is changed from here on, whatever comes of the waiting: a rollback has to change it back.
        existing[name] = definition
        yield from _settled(stack, name, definition, before)
    except Exception as error:
        raise _failed(stack, name, resource_type, "UPDATE_FAILED", error) from error
    resource: Any = stack.resource_map[name]
    _add_event(stack, name, resource_type, "UPDATE_COMPLETE", resource.physical_resource_id)


def _settled(stack: Stack, name: str, definition: dict[str, Any], before: dict[str, Any] | None) -> progress.Steps:
    """Wait for the signals of a creation policy, and for what is particular to the type."""
    resource: Any = stack.resource_map[name]
    resource_type = definition["Type"]
    status = "CREATE_IN_PROGRESS" if before is None else "UPDATE_IN_PROGRESS"

    def note(reason: str) -> None:
        _add_event(stack, name, resource_type, status, resource.physical_resource_id, reason)

    received = signals.open_for(stack, name)
    try:
        if before is None:
            yield from signals.wait_for_creation(definition, received, note)
        yield from progress.settle(progress.Change(resource, definition, before, received, note))
    finally:
        signals.close_for(stack, name)


def delete(stack: Stack, name: str, keep: set[str]) -> bool:
    """Delete the resource with logical id `name`, unless its deletion policy is one of `keep`; whether it is gone."""
    definition = definitions_of(stack)[name]
    resource_type = definition["Type"]
    if definition.get("DeletionPolicy") in keep:
        _add_event(stack, name, resource_type, "DELETE_SKIPPED", reason="its deletion policy keeps it")
    else:
        _add_event(stack, name, resource_type, "DELETE_IN_PROGRESS")
        try:
            known = deletions.delete(stack.account_id, stack.region_name, stack.resource_map[name], definition)
        except Exception as error:  # whatever the service says: it is the reason in the event
            _failed(stack, name, resource_type, "DELETE_FAILED", error)
            return False
        status, reason = ("DELETE_COMPLETE", None) if known else ("DELETE_SKIPPED", _NO_DELETION)
        _add_event(stack, name, resource_type, status, reason=reason)
    stack.resource_map._parsed_resources.pop(name, None)
    del definitions_of(stack)[name]
    return True


def existing(resource_map: parsing.ResourceMap, key: str) -> Any:
    """Replaces `ResourceMap.__getitem__`, which creates what it does not find: a look must not bring back what is gone.

    Raises:
        KeyError: The template has nothing of that name.
    """
    found = resource_map._parsed_resources
    if key not in found and key not in resource_map._resource_json_map:
        raise KeyError(key)
    return found.get(key)


def existing_of(stack: Stack) -> list[Any]:
    """Replaces `Stack.stack_resources`: what exists, in order of creation."""
    return [stack.resource_map[name] for name in definitions_of(stack)]


def _resolve(stack: Stack, name: str) -> dict[str, Any]:
    """The definition as the template has it, references resolved: what tells whether it changed."""
    definition: dict[str, Any] = parsing.clean_json(
        copy.deepcopy(stack.template_dict["Resources"][name]), stack.resource_map
    )
    return definition


def _can_update(resource_type: str) -> bool:
    method: Any = parsing.resource_class_from_type(resource_type).update_from_cloudformation_json
    return not hasattr(method, "__isabstractmethod__")


def _tag(stack: Stack, name: str, resource: CloudFormationModel) -> None:
    """The tags that CloudFormation puts on what it creates, and the stack's own."""
    if isinstance(resource, TaggedEC2Resource):
        tags = {
            **stack.tags,
            "aws:cloudformation:stack-name": stack.name,
            "aws:cloudformation:stack-id": stack.stack_id,
            "aws:cloudformation:logical-id": name,
        }
        physical_id: str = resource.physical_resource_id  # type: ignore[attr-defined]
        ec2_backends[stack.account_id][stack.region_name].create_tags([physical_id], tags)


def _failed(stack: Stack, name: str, resource_type: str, status: str, error: Exception) -> FailedError:
    """Write the event and the log, and return the error to raise."""
    _log.exception("%s %s %s", status, resource_type, name)
    reason = getattr(error, "message", None) or str(error) or type(error).__name__
    if isinstance(error, (KeyError, NotImplementedError, AttributeError, TypeError)):
        reason = f"the local AWS could not do this ({type(error).__name__}: {reason})"
    _add_event(stack, name, resource_type, status, reason=reason)
    return FailedError(f"{name} ({resource_type}): {reason}")


def _add_event(
    stack: Stack, name: str, resource_type: str, status: str, physical_id: str = "", reason: str | None = None
) -> None:
    stack.events.append(
        Event(
            stack_id=stack.stack_id,
            stack_name=stack.name,
            logical_resource_id=name,
            physical_resource_id=physical_id,
            resource_type=resource_type,
            resource_status=status,
            resource_status_reason=reason,
            resource_properties=None,
        )
    )
