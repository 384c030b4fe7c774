"""The queue that feeds workers."""

from __future__ import annotations

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_sqs as sqs
from constructs import Construct

_TRIES: Final = 3
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html
_VISIBILITY_FACTOR: Final = 6
_LONGEST_SECONDS: Final = 43_200


def create_queue(scope: Construct, id: str, *, request_seconds: int) -> sqs.Queue:
    """Create a queue, encrypted with SQS's own keys and reached by TLS only, and its dead-letter queue.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        request_seconds: The longest that a message usually takes; it is invisible to others for six times as long.
    """
    dead = sqs.Queue(
        scope,
        f"{id}DeadLetters",
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=Duration.days(14),
    )
    return sqs.Queue(
        scope,
        id,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        visibility_timeout=Duration.seconds(min(_VISIBILITY_FACTOR * request_seconds, _LONGEST_SECONDS)),
        dead_letter_queue=sqs.DeadLetterQueue(queue=dead, max_receive_count=_TRIES),
    )
