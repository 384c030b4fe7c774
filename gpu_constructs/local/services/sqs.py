"""SQS of the local AWS: queues from CloudFormation with all their properties changed in place, and queue policies."""

from __future__ import annotations

import json
from typing import Any

from moto.sqs.models import SQSBackend, sqs_backends

from gpu_constructs.local.services.cloudformation import LocalResource, refuse_replacement_of

_REPLACING = ("QueueName", "FifoQueue")
_LONGEST_NAME = 80
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
_RANGES = {
    "DelaySeconds": (0, 900),
    "KmsDataKeyReusePeriodSeconds": (60, 86400),
    "MessageRetentionPeriod": (60, 1209600),
    "ReceiveMessageWaitTimeSeconds": (0, 20),
    "VisibilityTimeout": (0, 43200),
}
_DEFAULTS: dict[str, Any] = {
    "DelaySeconds": 0,
    "KmsDataKeyReusePeriodSeconds": 300,
    "KmsMasterKeyId": None,
    "MessageRetentionPeriod": 345600,
    "ReceiveMessageWaitTimeSeconds": 0,
    "RedrivePolicy": {},
    "VisibilityTimeout": 30,
}


def install() -> None:
    """Nothing to put in place: the CloudFormation types are found by their names."""


class QueueResource(LocalResource):
    """AWS::SQS::Queue."""

    TYPE = "AWS::SQS::Queue"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        _check(properties)
        suffix = ".fifo" if properties.get("FifoQueue") in {True, "true"} else ""
        self.name = properties.get("QueueName") or name[: _LONGEST_NAME - len(suffix)] + suffix
        self.properties = properties
        self.queue = self._backend().create_queue(self.name, tags=_tags(properties), **_settings(properties))
        self.physical_resource_id = f"https://sqs.{self.region}.amazonaws.com/{self.account_id}/{self.name}"

    def update(self, properties: dict[str, Any]) -> None:
        """In place, but for its name; what the template no longer says has its default again."""
        before = self.properties
        if any(properties.get(name) != before.get(name) for name in _REPLACING):
            refuse_replacement_of(before.get("QueueName"), properties.get("QueueName"))
            self.delete()
            self.create(self.name, properties)
            return
        _check(properties)
        policy = self.queue.policy
        self._backend().set_queue_attributes(self.name, {**_DEFAULTS, **_settings(properties)})
        self.queue.policy = policy  # of a QueuePolicy, which moto forgets with each change
        self.queue.tags = _tags(properties)
        self.properties = properties

    def delete(self, *_: str) -> None:
        self._backend().delete_queue(self.name)

    def attributes(self) -> dict[str, Any]:
        return {"Arn": self.queue.queue_arn, "QueueName": self.name, "QueueUrl": self.physical_resource_id}

    def _backend(self) -> SQSBackend:
        return sqs_backends[self.account_id][self.region]


class QueuePolicyResource(LocalResource):
    """AWS::SQS::QueuePolicy: kept, and not enforced."""

    TYPE = "AWS::SQS::QueuePolicy"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        self.physical_resource_id, self.queues = name, [url.rpartition("/")[2] for url in properties["Queues"]]
        for queue in self.queues:
            self._backend().get_queue(queue).policy = json.dumps(properties["PolicyDocument"])

    def delete(self, *_: str) -> None:
        for queue in self.queues:
            if queue in self._backend().queues:
                self._backend().get_queue(queue).policy = None

    def _backend(self) -> SQSBackend:
        return sqs_backends[self.account_id][self.region]


def _check(properties: dict[str, Any]) -> None:
    for name, (lowest, highest) in _RANGES.items():
        if name in properties and not lowest <= int(properties[name]) <= highest:
            raise ValueError(f"Invalid value for the parameter {name}: it must be {lowest} to {highest}")


def _settings(properties: dict[str, Any]) -> dict[str, Any]:
    """The properties in the form that moto keeps: it says text, where a template may say yes or no."""
    settings = {name: value for name, value in properties.items() if name not in {"QueueName", "Tags"}}
    for name in ("SqsManagedSseEnabled", "FifoQueue", "ContentBasedDeduplication"):
        if name in settings:
            settings[name] = str(settings[name]).lower()
    if settings.get("KmsMasterKeyId"):
        settings.setdefault("SqsManagedSseEnabled", "false")
    return settings


def _tags(properties: dict[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in properties.get("Tags") or []}
