"""AWS as the tests of the node need it: clients that answer as they were told, and errors as boto3 raises them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError

from gpu_constructs.on_node.aws import Patience


def error(code: str, message: str = "", status: int = 400) -> ClientError:
    said: Any = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(said, "Operation")


THROTTLED = error("Throttling", "Rate exceeded")
DENIED = error("AccessDenied", "is not authorized", 403)
NO_ACTION = error("ValidationError", "No active Lifecycle Action found with instance ID i-1")


class Scripted:
    """A client whose operations give the answers of their lists, one after the other, the last one for ever.

    An operation without a list answers nothing in particular.
    """

    def __init__(self, **answers: list[Any]) -> None:
        self._answers = answers
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def call(**parameters: Any) -> Any:
            self.calls.append((operation, parameters))
            answers = self._answers.get(operation, [{}])
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call

    def called(self) -> list[str]:
        return [operation for operation, _ in self.calls]

    def parameters(self, operation: str) -> list[dict[str, Any]]:
        return [parameters for called, parameters in self.calls if called == operation]


class Pauses(list[float]):
    """Pauses that take no time, and are remembered."""

    def patience(self, tries: int = 4) -> Patience:
        return Patience(tries=tries, pause_seconds=1, longest_seconds=3, wait=self.append, random=lambda: 0.0)


def described(state: str, health: str = "HEALTHY") -> dict[str, Any]:
    """What DescribeAutoScalingInstances answers for the node."""
    one = {"InstanceId": "i-1", "AutoScalingGroupName": "nodes", "LifecycleState": state, "HealthStatus": health}
    return {"AutoScalingInstances": [one]}


NOT_KNOWN: dict[str, Any] = {"AutoScalingInstances": []}
