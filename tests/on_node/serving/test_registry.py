"""Which login a registry wants, and that it is said nowhere but to Docker."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from gpu_constructs.on_node.actions import ActionError
from gpu_constructs.on_node.serving import registry
from gpu_constructs.on_node.serving.registry import Login
from tests.on_node.aws_fakes import DENIED, THROTTLED, Pauses, Scripted
from tests.on_node.serving.made import ECR_IMAGE

TOKEN = base64.b64encode(b"AWS:a-token:with-colons").decode()
GRANTED = {"authorizationData": [{"authorizationToken": TOKEN}]}
SECRET_ARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:ngc-AbCdEf"


@pytest.mark.parametrize(
    ("image", "host", "region"),
    [
        (ECR_IMAGE, "123456789012.dkr.ecr.eu-west-1.amazonaws.com", "eu-west-1"),
        ("123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/a@sha256:0", None, "cn-north-1"),
        ("123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com/a", None, "us-gov-west-1"),
        ("123456789012.dkr-ecr.us-west-2.on.aws/a", "123456789012.dkr-ecr.us-west-2.on.aws", "us-west-2"),
        ("public.ecr.aws/team/a:1", "public.ecr.aws", None),
        ("nvcr.io/nvidia/tritonserver:26.05-py3", "nvcr.io", None),
        ("vllm/vllm-openai:v0.19.0", "docker.io", None),
        ("busybox", "docker.io", None),
        ("localhost/a", "localhost", None),
        ("registry:5000/a", "registry:5000", None),
        ("evil.example/123456789012.dkr.ecr.eu-west-1.amazonaws.com", "evil.example", None),
    ],
)
def test_registry_of_an_image(image: str, host: str | None, region: str | None) -> None:
    found = registry.host_of(image)
    assert found == (host or image.partition("/")[0])
    assert registry.ecr_region(found) == region


class Clients:
    """Makes clients, and remembers where."""

    def __init__(self, **answers: list[Any]) -> None:
        self.scripted, self.made = Scripted(**answers), list[tuple[str, str]]()

    def __call__(self, service: str, region: str) -> Scripted:
        self.made.append((service, region))
        return self.scripted


def login(image: str, clients: Clients, *, secret: str | None = None) -> Login | None:
    return registry.login(image, secret=secret, region="us-east-1", client=clients, patience=Pauses().patience())


def test_ecr_is_asked_in_the_region_of_the_image() -> None:
    clients = Clients(get_authorization_token=[THROTTLED, GRANTED])
    found = login(ECR_IMAGE, clients, secret="not for ECR")
    assert found == Login(host=registry.host_of(ECR_IMAGE), username="AWS", password="a-token:with-colons")
    assert clients.made == [("ecr", "eu-west-1")]
    assert "a-token" not in repr(found)


def test_public_image_needs_no_login_and_asks_nobody() -> None:
    clients = Clients()
    assert login("vllm/vllm-openai:v0.19.0", clients) is None
    assert clients.made == []


@pytest.mark.parametrize(
    ("secret", "region"), [("ngc", "us-east-1"), (SECRET_ARN, "eu-central-1"), ("team/ngc", "us-east-1")]
)
def test_secret_is_read_in_its_own_region(secret: str, region: str) -> None:
    clients = Clients(get_secret_value=[{"SecretString": json.dumps({"username": "u", "password": "p"})}])
    assert login("registry.example/a", clients, secret=secret) == Login(
        host="registry.example", username="u", password="p"
    )
    assert clients.made == [("secretsmanager", region)]
    assert clients.scripted.parameters("get_secret_value") == [{"SecretId": secret}]


def test_ngc_has_one_user_so_that_the_secret_need_not_name_it() -> None:
    clients = Clients(get_secret_value=[{"SecretString": json.dumps({"password": "nvapi-1"})}])
    found = login("nvcr.io/nvidia/tritonserver:26.05-py3", clients, secret="ngc")
    assert found == Login(host="nvcr.io", username="$oauthtoken", password="nvapi-1")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nvapi-secret", "has no username and password$"),
        ('["nvapi-secret"]', "has no username and password$"),
        ('{"username": "u"}', "has no password$"),
        ('{"password": "nvapi-secret"}', "has no username$"),
        ('{"username": "u", "password": ""}', "has no password$"),
        ('{"username": "u", "password": 7}', r'like {"username": "...", "password": "..."}, for registry.example$'),
        ('{"broken": "nvapi-secret', "has no username and password$"),
    ],
)
def test_secret_that_is_no_login_says_what_it_lacks_and_nothing_that_it_holds(text: str, says: str) -> None:
    with pytest.raises(ActionError, match=says) as raised:
        login("registry.example/a", Clients(get_secret_value=[{"SecretString": text}]), secret="ngc")
    assert "nvapi-secret" not in str(raised.value)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize(
    ("image", "operation", "says"),
    [
        (ECR_IMAGE, "get_authorization_token", "ECR gives no login for .*ecr:GetAuthorizationToken.*ecr.api"),
        ("nvcr.io/a", "get_secret_value", "the secret ngc .*nvcr.io cannot be read.*GetSecretValue on it.*kms:Decrypt"),
    ],
)
def test_denied_login_says_what_the_role_needs(image: str, operation: str, says: str) -> None:
    clients = Clients(**{operation: [DENIED]})
    with pytest.raises(ActionError, match=says):
        login(image, clients, secret="ngc")
    assert len(clients.scripted.calls) == 1
