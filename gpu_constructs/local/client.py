"""boto3 clients that can only reach the local AWS."""

from __future__ import annotations

import os
from typing import Any

import boto3
import botocore.session
from botocore.config import Config

from gpu_constructs.local import access


def make_client(service: str, *, port: int, region: str) -> Any:
    """A client that reads neither the environment nor any configuration file, nor goes through a proxy."""
    nothing: list[str] = []
    core = botocore.session.Session(
        {
            "profile": (None, nothing, None, None),
            "config_file": (None, nothing, os.devnull, None),
            "credentials_file": (None, nothing, os.devnull, None),
        }
    )
    session = boto3.session.Session(
        botocore_session=core,
        aws_access_key_id=access.ACCESS_KEY_ID,
        aws_secret_access_key=access.SECRET_ACCESS_KEY,
        region_name=region,
    )
    return session.client(  # type: ignore[call-overload]  # the service's name is only known when it runs
        service,
        endpoint_url=f"http://127.0.0.1:{port}",
        config=Config(proxies={}, retries={"mode": "standard", "total_max_attempts": 2}),
    )
