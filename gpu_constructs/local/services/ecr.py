"""ECR of the local AWS: repositories with their policies, and deleted as their template says."""

from __future__ import annotations

import json
from typing import Any

from moto.ecr.models import ECRBackend, ecr_backends

from gpu_constructs.local.services.cloudformation import LocalResource, refuse_replacement_of


class RepositoryNotEmptyError(Exception):
    """A repository that holds images is not deleted."""


def install() -> None:
    """Nothing to put in place: the CloudFormation type is found by its name."""


class RepositoryResource(LocalResource):
    """AWS::ECR::Repository."""

    TYPE = "AWS::ECR::Repository"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        # CloudFormation makes names in lower case here, because ECR takes no others.
        self.name = properties.get("RepositoryName") or name.lower()
        given = properties.get("EncryptionConfiguration")
        encryption: Any = _lower_keys(given) if given else None  # moto declares that there is one, and takes None
        self.repository = self._backend().create_repository(
            repository_name=self.name,
            registry_id=None,
            encryption_config=encryption,
            image_scan_config=_lower_keys(properties.get("ImageScanningConfiguration") or {"ScanOnPush": False}),
            image_tag_mutability=properties.get("ImageTagMutability") or "MUTABLE",
            tags=list(properties.get("Tags") or []),
            image_tag_mutability_exclusion_filters=None,
        )
        self.physical_resource_id = self.name
        self._apply(properties)

    def update(self, properties: dict[str, Any]) -> None:
        """In place, but for its name and its encryption."""
        before = self.properties
        if any(properties.get(one) != before.get(one) for one in ("RepositoryName", "EncryptionConfiguration")):
            refuse_replacement_of(before.get("RepositoryName"), properties.get("RepositoryName"))
            self.delete()
            self.create(self.name, properties)
            return
        self.repository.image_tag_mutability = properties.get("ImageTagMutability") or "MUTABLE"
        self.repository.image_scanning_configuration = _lower_keys(
            properties.get("ImageScanningConfiguration") or {"ScanOnPush": False}
        )
        self._apply(properties)

    def delete(self, *_: str) -> None:
        """With its images only if the template says so."""
        if self.repository.images and self.properties.get("EmptyOnDelete") not in {True, "true"}:
            raise RepositoryNotEmptyError(
                f"The repository with name '{self.name}' in registry with id '{self.account_id}' cannot be deleted "
                "because it still contains images"
            )
        self._backend().delete_repository(self.name, force=True)

    def attributes(self) -> dict[str, Any]:
        return {"Arn": self.repository.arn, "RepositoryUri": self.repository.uri}

    def _apply(self, properties: dict[str, Any]) -> None:
        self.properties = properties
        self.repository.policy = self.repository.lifecycle_policy = None
        lifecycle = (properties.get("LifecyclePolicy") or {}).get("LifecyclePolicyText")
        if lifecycle:
            self._backend().put_lifecycle_policy(self.account_id, self.name, lifecycle)
        if properties.get("RepositoryPolicyText"):
            policy = json.dumps(properties["RepositoryPolicyText"])
            self._backend().set_repository_policy(self.account_id, self.name, policy)

    def _backend(self) -> ECRBackend:
        return ecr_backends[self.account_id][self.region]


def _lower_keys(value: dict[str, Any]) -> dict[str, Any]:
    """CloudFormation's property names as the API writes them."""
    return {name[:1].lower() + name[1:]: one for name, one in value.items()}
