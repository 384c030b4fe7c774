"""What a node tells CloudFormation while it updates the group and waits for its nodes, one after the other.

See https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-updatepolicy.html
(WaitOnResourceSignals).
"""

from __future__ import annotations

from typing import Any, Literal

from gpu_constructs.on_node.aws import PATIENT, Patience
from gpu_constructs.on_node.config import Serving
from gpu_constructs.on_node.journal import Journal

Status = Literal["SUCCESS", "FAILURE"]
NAME = "signal"


def wanted(serving: Serving) -> bool:
    """Say whether a stack is to be told."""
    return bool(serving.signal_stack and serving.signal_resource)


def send(
    serving: Serving,
    status: Status,
    *,
    instance_id: str,
    cloudformation: Any,
    journal: Journal,
    patience: Patience = PATIENT,
) -> None:
    """Tell the stack; where it cannot be told, which is so whenever it is not updated, the journal is.

    Args:
        serving: The server, which names stack and resource.
        status: What came of the boot.
        instance_id: The node.
        cloudformation: A boto3 client.
        journal: Told what came of it.
        patience: How often it is tried.
    """
    signal = {
        "StackName": serving.signal_stack,
        "LogicalResourceId": serving.signal_resource,
        "UniqueId": instance_id,
        "Status": status,
    }
    try:
        patience.insist(lambda: cloudformation.signal_resource(**signal))
    except Exception as error:
        # "Stack:... is in UPDATE_COMPLETE state and can not be signaled", when the machine starts at another time.
        journal.event(step=NAME, event="not sent", status=status, reason=f"{type(error).__name__}: {error}")
    else:
        journal.event(step=NAME, event="sent", status=status)
