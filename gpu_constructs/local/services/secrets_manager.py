"""Secrets Manager of the local AWS: secrets from CloudFormation, with a value given or made."""

from __future__ import annotations

import json
from typing import Any

from moto.secretsmanager.models import SecretsManagerBackend, secretsmanager_backends

from gpu_constructs.local.services.cloudformation import LocalResource, refuse_replacement_of

_DEFAULT_LENGTH = 32


def install() -> None:
    """Nothing to put in place: the CloudFormation type is found by its name."""


class SecretResource(LocalResource):
    """AWS::SecretsManager::Secret."""

    TYPE = "AWS::SecretsManager::Secret"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        self.name, self.properties = properties.get("Name") or name, properties
        made = self._backend().create_secret(
            name=self.name,
            secret_string=self._value(properties),
            secret_binary=None,
            description=properties.get("Description"),
            tags=list(properties.get("Tags") or []),
            kms_key_id=properties.get("KmsKeyId"),
            client_request_token=None,
            replica_regions=[],
            force_overwrite=False,
        )
        self.physical_resource_id = json.loads(made)["ARN"]

    def update(self, properties: dict[str, Any]) -> None:
        """In place, but for its name; a value that is made is made anew only if the way it is made changes."""
        before = self.properties
        if properties.get("Name") != before.get("Name"):
            refuse_replacement_of(before.get("Name"), properties.get("Name"))
            self.delete()
            self.create(self.name, properties)
            return
        same = all(properties.get(name) == before.get(name) for name in ("SecretString", "GenerateSecretString"))
        self._backend().update_secret(
            self.name,
            secret_string=None if same else self._value(properties),
            description=properties.get("Description"),
            kms_key_id=properties.get("KmsKeyId"),
        )
        self.properties = properties

    def delete(self, *_: str) -> None:
        """At once, so that the same name can be deployed again; AWS keeps it for some days."""
        self._backend().delete_secret(self.name, None, force_delete_without_recovery=True)

    def attributes(self) -> dict[str, Any]:
        return {"Id": self.physical_resource_id}

    def _value(self, properties: dict[str, Any]) -> str | None:
        if "GenerateSecretString" not in properties:
            return properties.get("SecretString")
        asked = properties["GenerateSecretString"]
        made = self._backend().get_random_password(
            int(asked.get("PasswordLength") or _DEFAULT_LENGTH),
            asked.get("ExcludeCharacters") or "",
            _yes(asked.get("ExcludeNumbers")),
            _yes(asked.get("ExcludePunctuation")),
            _yes(asked.get("ExcludeUppercase")),
            _yes(asked.get("ExcludeLowercase")),
            _yes(asked.get("IncludeSpace")),
            _yes(asked.get("RequireEachIncludedType", True)),
        )
        password: str = json.loads(made)["RandomPassword"]
        if "SecretStringTemplate" not in asked:
            return password
        return json.dumps({**json.loads(asked["SecretStringTemplate"]), asked["GenerateStringKey"]: password})

    def _backend(self) -> SecretsManagerBackend:
        return secretsmanager_backends[self.account_id][self.region]


def _yes(value: Any) -> bool:
    return value in {True, "true"}
