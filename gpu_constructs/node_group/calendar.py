"""When the nodes of a Capacity Block come and go, and who is told that it is about to expire."""

from __future__ import annotations

from datetime import datetime

from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_sns as sns
from constructs import Construct

from gpu_constructs.capacity import Capacity, timestamp
from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.node_group import capacity_rules, market


class BlockCalendar(Construct):
    """The scheduled actions of a group in a Capacity Block, and a topic that is told 40 minutes before the block ends.

    With a start the group grows to `node_count` then; with an end it shrinks to none 45 minutes before it, 75 for
    UltraServers. Without them there are no actions. The topic costs nothing while nobody subscribes. It takes messages
    by TLS only, but is not encrypted with a KMS key: EventBridge cannot publish with the one that AWS manages, another
    one is billed, and all it carries is the id and the end of a reservation.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        group: The group.
        capacity: The block.
        instance: The type of the nodes.
        node_count: Nodes while the block runs.

    Attributes:
        expiry_topic: The topic that is told.
        expiry_rule: The EventBridge rule that tells it; add further targets to it.

    See https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-monitor.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        group: autoscaling.AutoScalingGroup,
        capacity: Capacity,
        instance: GpuInstance,
        node_count: int,
    ) -> None:
        super().__init__(scope, id)
        self._schedule("Out", group, capacity.start, node_count)
        self._schedule("In", group, capacity_rules.leave_at(capacity, instance), 0)
        self.expiry_topic = sns.Topic(self, "ExpiryTopic", enforce_ssl=True)
        self.expiry_rule = events.Rule(
            self,
            "ExpiryRule",
            description="A Capacity Block is about to expire",
            event_pattern=events.EventPattern(
                source=["aws.ec2"],
                # AWS publishes both spellings: which one is sent depends on the page, perhaps on the Region.
                detail_type=["Capacity Block Expiration Warning", "Capacity Block Reservation Expiration Warning"],
                detail={"capacity-reservation-id": [market.target_id(capacity)]},
            ),
            targets=[targets.SnsTopic(self.expiry_topic)],
        )

    def _schedule(self, id: str, group: autoscaling.AutoScalingGroup, moment: datetime | None, node_count: int) -> None:
        # The L2 has recurring actions only.
        if moment is not None:
            autoscaling.CfnScheduledAction(
                self,
                id,
                auto_scaling_group_name=group.auto_scaling_group_name,
                desired_capacity=node_count,
                start_time=timestamp(moment),
            )
