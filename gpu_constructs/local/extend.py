"""How the local AWS adds to moto: in three ways only, each of which says when a newer moto no longer fits.

moto finds CloudFormation types as subclasses of `CloudFormationModel` and API operations as methods of a service's
response class; both are looked up by name, so what is added here is as real to a client as what moto brings.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any


def add_method(owner: type, method: Any, name: str | None = None) -> None:
    """Give a class of moto's what it lacks, above all an API operation, which is a method of the service's responses.

    Args:
        owner: The moto class.
        method: What is added (a function, or a property).
        name: Its name; by default the function's own. An API operation's is the operation's, in snake_case.

    Raises:
        RuntimeError: moto has it by now, so ours is to be removed.
    """
    added = name or method.__name__
    if getattr(owner, added, method) is not method:
        raise RuntimeError(f"moto now has {owner.__name__}.{added}; remove the local AWS's own")
    setattr(owner, added, method)


def replace_method(owner: type | ModuleType, method: Any, name: str | None = None) -> None:
    """Replace a method (or a module's function) that moto has, because it does less than AWS does.

    Args:
        owner: The moto class or module.
        method: The replacement (a function, classmethod, staticmethod or property).
        name: What it replaces; by default the replacement's own name.

    Raises:
        RuntimeError: moto has no such method any more.
    """
    replaced = name or method.__name__
    if not hasattr(owner, replaced):
        raise RuntimeError(f"moto has no {owner.__name__}.{replaced} any more; the local AWS must be adapted")
    setattr(owner, replaced, method)


def extend_creation(model: type, apply: Callable[[Any, dict[str, Any], str, str], None]) -> None:
    """Have CloudFormation properties applied that moto's type passes over, after it has created or updated a resource.

    Args:
        model: moto's class of the CloudFormation type.
        apply: Called with the resource, all its properties, the account id and the Region.
    """
    created, updated = _classmethod_of(model, _CREATE), _classmethod_of(model, _UPDATE)

    def create(
        cls: type,
        /,
        resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
        **more: Any,
    ) -> Any:
        resource = created(cls, resource_name, cloudformation_json, account_id, region_name, **more)
        apply(resource, cloudformation_json.get("Properties", {}), account_id, region_name)
        return resource

    def update(
        cls: type,
        /,
        original_resource: Any,
        new_resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> Any:
        resource = updated(cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name)
        apply(resource, cloudformation_json.get("Properties", {}), account_id, region_name)
        return resource

    replace_method(model, classmethod(create), _CREATE)
    replace_method(model, classmethod(update), _UPDATE)


_CREATE = "create_from_cloudformation_json"
_UPDATE = "update_from_cloudformation_json"


def _classmethod_of(model: type, name: str) -> Callable[..., Any]:
    """The function inside a classmethod, so that the class it is called with stays the caller's."""
    function: Callable[..., Any] = getattr(model, name).__func__
    return function
