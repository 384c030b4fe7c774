"""A stack of any resources, deployed, asked and deleted in the words of the tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient

NAME = "tier"


class DeployedStack:
    def __init__(self, cloudformation: CloudFormationClient) -> None:
        self.cloudformation = cloudformation
        self.stack_id = ""

    def deploy(self, outputs: dict[str, Any] | None = None, **resources: Any) -> str:
        """Create or update it; the status it has then."""
        body = json.dumps(
            {"Resources": resources, "Outputs": {name: {"Value": value} for name, value in (outputs or {}).items()}}
        )
        act = self.cloudformation.update_stack if self.stack_id else self.cloudformation.create_stack
        self.stack_id = act(StackName=NAME, TemplateBody=body)["StackId"]
        return self.status()

    def status(self) -> str:
        return str(self.cloudformation.describe_stacks(StackName=self.stack_id)["Stacks"][0]["StackStatus"])

    def outputs(self) -> dict[str, str]:
        stack = self.cloudformation.describe_stacks(StackName=NAME)["Stacks"][0]
        return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}

    def physical_id(self, logical_id: str) -> str:
        found = self.cloudformation.describe_stack_resource(StackName=NAME, LogicalResourceId=logical_id)
        return str(found["StackResourceDetail"]["PhysicalResourceId"])

    def delete(self) -> str:
        self.cloudformation.delete_stack(StackName=NAME)
        return self.status()

    def events(self) -> list[tuple[str, str, str]]:
        """Logical id, status and reason, oldest first."""
        found = self.cloudformation.describe_stack_events(StackName=self.stack_id)["StackEvents"]
        return [
            (event["LogicalResourceId"], event["ResourceStatus"], event.get("ResourceStatusReason", ""))
            for event in reversed(found)
        ]

    def reasons(self, status: str = "CREATE_FAILED") -> list[str]:
        return [reason for _, found, reason in self.events() if found == status]
