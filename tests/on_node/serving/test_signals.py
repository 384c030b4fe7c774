"""What CloudFormation is told; never a reason for a node to fail."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpu_constructs.on_node.journal import Journal
from gpu_constructs.on_node.serving import signals
from tests.on_node.aws_fakes import DENIED, THROTTLED, Pauses, Scripted, error
from tests.on_node.serving.made import SERVING

TOLD = replace(SERVING, signal_stack="Serving", signal_resource="Group1")
NOT_UPDATED = error("ValidationError", "Stack:Serving is in UPDATE_COMPLETE state and can not be signaled")


def send(tmp_path: Path, status: signals.Status, client: Scripted) -> list[dict[str, Any]]:
    path = tmp_path / "boot.jsonl"
    signals.send(
        TOLD,
        status,
        instance_id="i-1",
        cloudformation=client,
        journal=Journal(path, lambda _: None),
        patience=Pauses().patience(),
    )
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("status", ["SUCCESS", "FAILURE"])
def test_stack_is_told_once_which_node_it_was(tmp_path: Path, status: signals.Status) -> None:
    client = Scripted()
    (said,) = send(tmp_path, status, client)
    told = {"StackName": "Serving", "LogicalResourceId": "Group1", "UniqueId": "i-1", "Status": status}
    assert client.calls == [("signal_resource", told)]
    assert (said["event"], said["status"]) == ("sent", status)


def test_throttled_signal_is_sent_again(tmp_path: Path) -> None:
    client = Scripted(signal_resource=[THROTTLED, {}])
    (said,) = send(tmp_path, "SUCCESS", client)
    assert (len(client.calls), said["event"]) == (2, "sent")


@pytest.mark.parametrize("raised", [NOT_UPDATED, DENIED])
def test_stack_that_cannot_be_told_is_noted_and_nothing_more(tmp_path: Path, raised: Exception) -> None:
    client = Scripted(signal_resource=[raised])
    (said,) = send(tmp_path, "SUCCESS", client)
    assert (len(client.calls), said["event"]) == (1, "not sent")
    assert str(raised) in said["reason"]


def test_stack_is_told_only_where_one_waits() -> None:
    assert signals.wanted(TOLD)
    assert not signals.wanted(SERVING)
    assert not signals.wanted(replace(TOLD, signal_resource=None))
