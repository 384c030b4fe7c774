"""How the local AWS adds to moto: in two ways only, each of which says when a newer moto no longer fits.

moto finds CloudFormation types as subclasses of `CloudFormationModel` and API operations as methods of a service's
response class; both are looked up by name, so what is added here is as real to a client as what moto brings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def add_operation(response_class: type, operation: Callable[..., Any]) -> None:
    """Give a service an API operation that moto lacks; the function's name is the operation's, in snake_case.

    Raises:
        RuntimeError: moto has this operation by now, so ours is to be removed.
    """
    name = operation.__name__
    if hasattr(response_class, name) and getattr(response_class, name) is not operation:
        raise RuntimeError(f"moto now has {response_class.__name__}.{name}; remove the local AWS's own")
    setattr(response_class, name, operation)


def replace_method(owner: type, method: Any, name: str | None = None) -> None:
    """Replace a method that moto has, because it does less than AWS does.

    Args:
        owner: The moto class.
        method: The replacement (a function, classmethod, staticmethod or property).
        name: What it replaces; by default the replacement's own name.

    Raises:
        RuntimeError: moto has no such method any more.
    """
    replaced = name or method.__name__
    if not hasattr(owner, replaced):
        raise RuntimeError(f"moto has no {owner.__name__}.{replaced} any more; the local AWS must be adapted")
    setattr(owner, replaced, method)
