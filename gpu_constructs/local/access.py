"""Who may talk to the local AWS: only who uses its own key, so that nobody deploys to it believing it is AWS."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

ACCESS_KEY_ID = "LOCALAWSONLY"
SECRET_ACCESS_KEY = "local-aws-only"  # noqa: S105 - opens nothing but a server on this machine's loopback

REFUSED = (
    "this is the local AWS of gpu-constructs, which accepts its own key only; take the environment that "
    "`gpu-constructs local status --env` prints, or a client from LocalAws.client()"
)

_CREDENTIAL = re.compile(r"Credential=([^/,\s]+)/")


def key_of(environ: Mapping[str, Any]) -> str | None:
    """The access key id a request is signed with (header or presigned URL), or None for an unsigned one."""
    signed = _CREDENTIAL.search(environ.get("HTTP_AUTHORIZATION", ""))
    if signed:
        return signed.group(1)
    credential = parse_qs(environ.get("QUERY_STRING", "")).get("X-Amz-Credential")
    return credential[0].split("/")[0] if credential else None


def service_of(environ: Mapping[str, Any]) -> str:
    """The service a request is signed for, as its credential scope names it; "s3" where nothing says so."""
    scope = re.search(r"Credential=[^/]+/\d+/[^/]+/([^/]+)/", environ.get("HTTP_AUTHORIZATION", ""))
    return scope.group(1) if scope else "s3"


def issued_keys() -> set[str]:
    """The keys the local AWS has handed out itself: of assumed roles, which the CDK command line uses, and of users."""
    from moto.iam.models import iam_backends  # moto is imported in the server's process alone
    from moto.sts.models import sts_backends

    roles = {role.access_key_id for b in _all(sts_backends) for role in b.assumed_roles}
    return roles | {key for b in _all(iam_backends) for key in b.access_keys}


def may_enter(environ: Mapping[str, Any]) -> bool:
    """Whether a request is signed with the local AWS's own key, or with one that it has issued."""
    key = key_of(environ)
    return key is not None and (key == ACCESS_KEY_ID or key in issued_keys())


def _all(backends: Any) -> list[Any]:
    return [backend for account in backends.values() for backend in account.values()]
