from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpu_constructs.local import access
from gpu_constructs.local.application import failure
from gpu_constructs.local.environment import aws_environment, cdk_environment

DIRECTORY = Path("/somewhere")


def _cdk() -> dict[str, str]:
    return cdk_environment(
        port=5051, region="eu-west-1", directory=DIRECTORY, path=(Path("/venv/bin"),), jsii_cache=Path("/cache")
    )


def test_everything_that_names_an_aws_names_the_local_one() -> None:
    environment = aws_environment(port=5051, region="eu-west-1", directory=DIRECTORY)

    assert environment["AWS_ENDPOINT_URL"] == "http://localhost:5051"
    assert environment["AWS_ENDPOINT_URL_S3"] == "http://127.0.0.1:5051"
    assert environment["AWS_ACCESS_KEY_ID"] == access.ACCESS_KEY_ID
    assert environment["AWS_EC2_METADATA_DISABLED"] == "true"
    assert {environment["AWS_REGION"], environment["AWS_DEFAULT_REGION"]} == {"eu-west-1"}


def test_nothing_of_the_users_reaches_the_cdk_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_STS", "HTTPS_PROXY", "CDK_DEFAULT_ACCOUNT"):
        monkeypatch.setenv(name, "the user's")

    assert "the user's" not in _cdk().values()
    assert set(_cdk()) & {"AWS_PROFILE", "AWS_SESSION_TOKEN", "HTTPS_PROXY"} == set()
    assert _cdk()["HOME"] == "/somewhere/home"
    assert _cdk()["PATH"].startswith("/venv/bin:")


@pytest.mark.parametrize(
    ("request_", "key"),
    [
        (
            {"HTTP_AUTHORIZATION": "AWS4-HMAC-SHA256 Credential=AKIA1/20261201/us-east-1/s3/aws4_request, Signed"},
            "AKIA1",
        ),
        ({"QUERY_STRING": "X-Amz-Credential=AKIA2%2F20261201%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=1"}, "AKIA2"),
        ({"QUERY_STRING": "list-type=2"}, None),
        ({}, None),
    ],
)
def test_the_key_of_a_request_is_in_its_header_or_in_its_url(request_: dict[str, str], key: str | None) -> None:
    assert access.key_of(request_) == key


@pytest.mark.parametrize(
    ("service", "start"),
    [
        ("ec2", b"<Response><Errors><Error><Code>Refused</Code>"),
        ("s3", b"<Error><Code>Refused</Code>"),
        ("autoscaling", b"<ErrorResponse><Error><Code>Refused</Code>"),
    ],
)
def test_an_error_is_in_the_form_that_the_services_clients_parse(service: str, start: bytes) -> None:
    signed = {"HTTP_AUTHORIZATION": f"AWS4 Credential=A/20261201/us-east-1/{service}/aws4_request"}

    response = failure(signed, 403, "Refused", "a < b")

    assert response.status_code == 403
    assert response.data.startswith(start)
    assert b"a &lt; b" in response.data


def test_an_error_of_a_json_service_is_json() -> None:
    request: dict[str, Any] = {"HTTP_X_AMZ_TARGET": "AWSSimbaAPIService_v20180301.DescribeFileSystems"}

    assert failure(request, 403, "Refused", "no").get_json(force=True) == {"__type": "Refused", "message": "no"}
