"""The registry of an image, and what a node logs in with there.

See https://docs.aws.amazon.com/AmazonECR/latest/userguide/registry_auth.html and
https://docs.nvidia.com/ngc/gpu-cloud/ngc-catalog-user-guide/ (the user of nvcr.io is $oauthtoken, whoever has the key).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from gpu_constructs.on_node.actions import ActionError
from gpu_constructs.on_node.aws import Patience

DOCKER_HUB: Final = "docker.io"
_NGC, _NGC_USER = "nvcr.io", "$oauthtoken"
# 123456789012.dkr.ecr.us-east-1.amazonaws.com, its FIPS endpoint, those of China, and the ones that have IPv6 too:
# https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-requests.html
_ECR = re.compile(
    r"\d{12}\.dkr[.-]ecr(?:-fips)?\.([a-z0-9-]+)\.(?:amazonaws\.com(?:\.cn)?|on\.aws|on\.amazonwebservices\.com\.cn)"
)


@dataclass(frozen=True, kw_only=True)
class Login:
    """What a node logs in with.

    Args:
        host: The registry.
        username: The user.
        password: The password; it is in no representation.
    """

    host: str
    username: str
    password: str = field(repr=False)


def host_of(image: str) -> str:
    """Return the registry of an image: what is before the first slash, where that is the name of a host."""
    first, slash, _ = image.partition("/")
    return first if slash and (first == "localhost" or set(first) & {".", ":"}) else DOCKER_HUB


def ecr_region(host: str) -> str | None:
    """Return the Region of a private registry of ECR; None where the host is another one."""
    found = _ECR.fullmatch(host)
    return found[1] if found else None


def login(
    image: str, *, secret: str | None, region: str, client: Callable[[str, str], Any], patience: Patience
) -> Login | None:
    """Return what a node logs in with to pull an image; None where it needs nothing.

    Args:
        image: The image.
        secret: The name or ARN of a secret of Secrets Manager: JSON with username and password.
        region: The Region of the node, where a secret that is only named lies.
        client: Makes a boto3 client of a service in a Region.
        patience: How often AWS is asked.

    Raises:
        ActionError: If AWS does not say it.
    """
    host = host_of(image)
    if where := ecr_region(host):
        return _of_ecr(host, client("ecr", where), patience)
    return (
        _of_secret(host, secret, client("secretsmanager", _region_of(secret) or region), patience) if secret else None
    )


def _of_ecr(host: str, ecr: Any, patience: Patience) -> Login:
    """The token is for all registries that the role may read, and is valid for 12 hours."""
    try:
        data = patience.insist(ecr.get_authorization_token)["authorizationData"][0]
    except Exception as error:
        raise ActionError(
            f"ECR gives no login for {host}: {error}; the role needs ecr:GetAuthorizationToken, and the node a way to "
            "the API of ECR (in a private VPC, the endpoints ecr.api and ecr.dkr, and that of S3)"
        ) from error
    username, _, password = base64.b64decode(data["authorizationToken"]).decode().partition(":")
    return Login(host=host, username=username, password=password)


def _of_secret(host: str, secret: str, manager: Any, patience: Patience) -> Login:
    try:
        text = patience.insist(lambda: manager.get_secret_value(SecretId=secret)).get("SecretString", "")
    except Exception as error:
        raise ActionError(
            f"the secret {secret} with the credentials of {host} cannot be read: {error}; the role needs "
            "secretsmanager:GetSecretValue on it, and kms:Decrypt where its key is one of your own"
        ) from error
    values = _parsed(text)
    username = values.get("username") or (_NGC_USER if host == _NGC else None)
    password = values.get("password")
    if not (isinstance(username, str) and isinstance(password, str) and password):
        lacks = " and ".join(name for name, value in (("username", username), ("password", password)) if not value)
        raise ActionError(
            f'the secret {secret} must hold JSON like {{"username": "...", "password": "..."}}, for {host}'
            + (f"; it has no {lacks}" if lacks else "")
        )
    return Login(host=host, username=username, password=password)


def _parsed(text: str) -> dict[str, Any]:
    """What is no JSON object counts as an empty one: an error of the parser would say a part of the secret."""
    try:
        values = json.loads(text)
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


def _region_of(secret: str) -> str | None:
    """The Region in an ARN; a secret that is only named has none."""
    parts = secret.split(":")
    return parts[3] if parts[0] == "arn" and len(parts) > 3 else None  # noqa: PLR2004 - arn:aws:service:region
