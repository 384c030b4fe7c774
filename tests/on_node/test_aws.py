"""Which errors pass, how long a node tries, and its clients."""

from __future__ import annotations

import pytest
from botocore.exceptions import EndpointConnectionError, NoCredentialsError, ReadTimeoutError

from gpu_constructs.on_node import aws
from gpu_constructs.on_node.aws import Patience
from tests.on_node.aws_fakes import DENIED, THROTTLED, Pauses, Scripted, error


@pytest.mark.parametrize(
    "passing",
    [
        THROTTLED,
        error("RequestLimitExceeded", status=503),
        error("ResourceContention", "You already have a pending update", 500),
        error("", status=429),
        EndpointConnectionError(endpoint_url="https://autoscaling.us-east-1.amazonaws.com"),
        ReadTimeoutError(endpoint_url="https://autoscaling.us-east-1.amazonaws.com"),
    ],
)
def test_throttling_and_failures_on_the_way_and_at_aws_pass(passing: Exception) -> None:
    client = Scripted(ask=[passing, "answer"])
    assert Pauses().patience().insist(client.ask) == "answer"


@pytest.mark.parametrize("lasting", [DENIED, error("ValidationError"), NoCredentialsError(), ValueError("ours")])
def test_what_does_not_pass_is_raised_at_once(lasting: Exception) -> None:
    client, pauses = Scripted(ask=[lasting, "answer"]), Pauses()
    with pytest.raises(type(lasting)) as raised:
        pauses.patience().insist(client.ask)
    assert raised.value is lasting
    assert pauses == []


def test_the_last_error_is_raised_and_pauses_double_up_to_the_longest() -> None:
    client, pauses = Scripted(ask=[THROTTLED]), Pauses()
    with pytest.raises(type(THROTTLED), match="Rate exceeded"):
        pauses.patience(tries=5).insist(client.ask)
    assert len(client.calls) == 5
    assert pauses == [1, 2, 3, 3]


def test_an_answer_that_is_never_enough_is_taken_after_the_last_try() -> None:
    client = Scripted(ask=["too little"])
    assert Pauses().patience(tries=3).insist(client.ask, lambda answer: answer == "enough") == "too little"
    assert len(client.calls) == 3


def test_a_random_part_of_up_to_half_keeps_nodes_apart() -> None:
    pauses: list[float] = []
    Patience(pause_seconds=4, wait=pauses.append, random=lambda: 1.0).pause(0)
    Patience(pause_seconds=4, wait=pauses.append, random=lambda: 0.5).pause(0)
    assert pauses == [2, 3]


def test_a_client_is_of_the_nodes_region_and_gives_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    made = aws.client("autoscaling", "eu-west-1")
    assert made.meta.region_name == "eu-west-1"
    config = made.meta.config
    assert (config.connect_timeout + config.read_timeout) * config.retries["total_max_attempts"] <= 90
