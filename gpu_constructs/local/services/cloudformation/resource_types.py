"""CloudFormation resource types: those the local AWS adds, and the two stand-ins for what it cannot create."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

from moto.cloudformation import parsing
from moto.cloudformation.exceptions import UnformattedGetAttTemplateException, ValidationError
from moto.core.common_models import CloudFormationModel
from moto.moto_api._internal import mock_random

_added: dict[str, type[LocalResource]] = {}

# Types whose whole effect is on CloudFormation itself or on its makers' statistics: nothing is missing without them.
WITHOUT_EFFECT = frozenset({"AWS::CDK::Metadata", "AWS::CloudFormation::WaitConditionHandle"})


class LocalResource(CloudFormationModel):
    """A resource of a type that moto's CloudFormation lacks (or does less with than AWS does).

    A subclass names its `TYPE` and gives `create`, `update` and `delete`; it is found by its type from then on.
    """

    TYPE: ClassVar[str] = ""
    physical_resource_id: str
    """What `Ref` gives."""

    def __init_subclass__(cls) -> None:
        if cls.TYPE:
            _added[cls.TYPE] = cls

    def __init__(self, account_id: str, region: str) -> None:
        self.account_id = account_id
        self.region = region

    @abc.abstractmethod
    def create(self, name: str, properties: dict[str, Any]) -> None:
        """Create it and set `physical_resource_id`.

        Args:
            name: The physical name CloudFormation would generate.
            properties: The template's properties, with all references resolved.
        """

    def update(self, properties: dict[str, Any]) -> None:
        """Change it in place. By default it is deleted and created anew, as for a type that only knows replacement."""
        name = self.physical_resource_id
        self.delete()
        self.create(name, properties)

    @abc.abstractmethod
    def delete(self, *_: str) -> None:
        """Delete it."""

    def get_cfn_attribute(self, attribute_name: str) -> Any:
        """What `Fn::GetAtt` gives."""
        try:
            return self.attributes()[attribute_name]
        except KeyError:
            raise UnformattedGetAttTemplateException from None

    def attributes(self) -> dict[str, Any]:
        """Every attribute of `Fn::GetAtt`; by default none."""
        return {}

    # From here on: the names that moto looks for.

    @staticmethod
    def cloudformation_name_type() -> str:
        """No property from which moto would take the physical name: `create` does."""
        return ""

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Attributes are checked when they are read."""
        del attr
        return True

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: dict[str, Any], account_id: str, region_name: str, **kwargs: Any
    ) -> LocalResource:
        """Create one, as moto asks for it."""
        del kwargs
        resource = cls(account_id, region_name)
        resource.create(resource_name, cloudformation_json.get("Properties", {}))
        return resource

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: LocalResource,
        new_resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> LocalResource:
        """Update one, as moto asks for it."""
        del new_resource_name, account_id, region_name
        original_resource.update(cloudformation_json.get("Properties", {}))
        return original_resource


class NotCreated(LocalResource):
    """Stands where a resource should be whose type the local AWS does not know, so that the rest can be deployed."""

    def create(self, name: str, properties: dict[str, Any]) -> None:
        del properties
        self.physical_resource_id = f"not-created-{name}"

    def update(self, properties: dict[str, Any]) -> None:
        pass

    def delete(self, *_: str) -> None:
        pass

    def get_cfn_attribute(self, attribute_name: str) -> Any:
        """A word that says so wherever it turns up."""
        return f"{attribute_name}-of-{self.physical_resource_id}"


class NotRun(NotCreated):
    """A custom resource: answered as a success, while the code behind it did not run."""

    def create(self, name: str, properties: dict[str, Any]) -> None:
        del properties
        self.physical_resource_id = f"not-run-{name}-{mock_random.get_random_hex(8)}"


def whole_number(value: Any) -> int | None:
    """A number of a template, which may be written as text; None for a property that is left out."""
    return None if value is None else int(value)


def refuse_replacement_of(name_before: str | None, name_now: str | None) -> None:
    """Refuse to replace what has a name of the template's: the new one would have it while the old one is there.

    Raises:
        ValidationError: The template names it as before.
    """
    if name_before and name_before == name_now:
        message = (
            "CloudFormation cannot update a stack when a custom-named resource requires replacing. "
            f"Rename {name_now} and update the stack again."
        )
        raise ValidationError(name_now, message=message)


def class_for(resource_type: str) -> type[CloudFormationModel]:
    """The class behind a CloudFormation type: ours, else moto's, else a stand-in that is reported as such."""
    if resource_type in _added:
        return _added[resource_type]
    if resource_type.startswith("Custom::") or resource_type == "AWS::CloudFormation::CustomResource":
        return NotRun
    return parsing.get_model_map().get(resource_type, NotCreated)
