"""SNS of the local AWS: topic policies from CloudFormation."""

from __future__ import annotations

import json
from typing import Any

from moto.sns.models import sns_backends

from gpu_constructs.local.services.cloudformation import LocalResource


def install() -> None:
    """Nothing to replace in moto: the CloudFormation type is found by its name."""


class TopicPolicyResource(LocalResource):
    """AWS::SNS::TopicPolicy; without it a topic has the policy that SNS gives it."""

    TYPE = "AWS::SNS::TopicPolicy"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        self.physical_resource_id = name
        backend = sns_backends[self.account_id][self.region]
        self.before = {arn: backend.get_topic(arn).policy for arn in properties["Topics"]}
        for arn in properties["Topics"]:
            backend.set_topic_attribute(arn, "policy", json.dumps(properties["PolicyDocument"]))

    def delete(self, *_: str) -> None:
        backend = sns_backends[self.account_id][self.region]
        for arn, policy in self.before.items():
            backend.set_topic_attribute(arn, "policy", policy)

    def attributes(self) -> dict[str, Any]:
        return {"Id": self.physical_resource_id}
