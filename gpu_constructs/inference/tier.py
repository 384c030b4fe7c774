"""Nodes that answer requests with a model, behind a load balancer.

    InferenceTier(
        self,
        "Serving",
        instance_types=["g5.xlarge"],
        runtime=ServingRuntime.triton("nvcr.io/nvidia/tritonserver:26.05-py3"),
        model=ModelSource.s3(bucket, "models", version="3"),
        listener=Listener.https(certificate, "api.example.com"),
        max_capacity=8,
    )

Its arguments are checked together, before anything is made: see `rules`.
"""

from __future__ import annotations

from collections.abc import Sequence

import jsii
from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_elasticloadbalancingv2 as elbv2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from gpu_constructs.capacity import Capacity
from gpu_constructs.checks import UNKNOWN
from gpu_constructs.doubts import refuse, warn
from gpu_constructs.images import GpuImage
from gpu_constructs.inference import group_settings, listener_rules, node_side, policies, rules
from gpu_constructs.inference.application import LOG_PREFIX, ApplicationFront
from gpu_constructs.inference.front import Front
from gpu_constructs.inference.listener import Listener
from gpu_constructs.inference.load_budget import LoadBudget
from gpu_constructs.inference.model import ModelSource
from gpu_constructs.inference.network_front import NetworkFront
from gpu_constructs.inference.node_side import GroupId
from gpu_constructs.inference.rollout import Rollout
from gpu_constructs.inference.runtime import ServingRuntime
from gpu_constructs.inference.scaling import DEFAULT as DEFAULT_SCALING
from gpu_constructs.inference.scaling import Scaling
from gpu_constructs.inference.workers import create_queue
from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.network.efa import Efa
from gpu_constructs.network.vpc import create_vpc, way_out
from gpu_constructs.node_group.bootstrap import Bootstrap
from gpu_constructs.node_group.instance_type import InstanceType
from gpu_constructs.node_group.launch_template import GpuLaunchTemplate
from gpu_constructs.node_group.node import Node
from gpu_constructs.node_group.node_group import GpuNodeGroup
from gpu_constructs.observability import dimensions
from gpu_constructs.observability.dimensions import Series
from gpu_constructs.storage.volumes import Volume
from gpu_constructs.tokens import region_of

_ZONES = 2
_PERIOD = Duration.minutes(1)


@jsii.implements(iam.IGrantable, ec2.IConnectable)
class InferenceTier(Construct):
    """GPU nodes that run a model server, an Auto Scaling group of them, and what brings them requests.

    A node joins the load balancer only when its model answers: it completes the launch hook of its group when image and
    model are there, the server says that it is ready and has answered a first request. A node that cannot say so is
    replaced, and the third within 30 minutes stops the group from starting more. Nodes bill from the moment they run.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        instance_types: One type, or several of one architecture: on demand the first that AWS has is taken; for spot
            the pool that is least likely to be interrupted and cheap.
        runtime: The model server.
        model: Where the model comes from. By default it is in the image.
        vpc: The VPC. By default one is created in two zones, with private subnets, one NAT gateway (about 0.045 USD an
            hour in us-east-1) and an S3 gateway endpoint.
        vpc_subnets: The subnets of the nodes. By default the private ones with egress, or, in a VPC that has none, the
            isolated ones. A load balancer is in the private ones where it is internal, else in the public ones.
        security_groups: Security groups of the nodes beside the tier's own.
        capacity: How the nodes are bought. By default on demand. `Capacity.spot(on_demand_base=1)` keeps one node that
            AWS does not take back.
        image: The machine image of the nodes. By default the newest Deep Learning Base AMI on Amazon Linux 2023.
        root_volume: The root volume of each node. By default gp3 with room for image and model, at least 200 GiB, and
            500 MiB/s, so that they are there sooner: about 31 USD a month.
        data_volume: A second volume of each node. By default there is none.
        listener: What stands in front of the nodes. By default an internal load balancer with plain HTTP, to which
            nobody may connect yet.
        min_capacity: Fewest nodes.
        max_capacity: Most nodes, at least one more than serve during a rollout.
        warm_pool: Stopped nodes that have image and model already, and cost their volumes alone. By default none.
        scaling: When the group grows and shrinks. By default at 60 % of the GPUs. `[]` for never.
        rollout: How a new version of image, model or anything else reaches the nodes. By default one at a time.
        load_seconds: How long a node may take from the pull of the image to a model that answers. By default it follows
            from the sizes of image and model, doubled.
        role: The role of the nodes. By default one is created that lets them be managed by Systems Manager. Either may
            fetch image and model.
        allow_retired: Whether a type that AWS has retired (P2, P3, G3) is taken, with a warning. By default it is
            refused.

    Attributes:
        vpc: The VPC.
        node_group: The nodes.
        auto_scaling_group: The L2 Auto Scaling group of the nodes.
        launch_template: The L2 launch template of the nodes.
        role: The role of the nodes.
        load_balancer: The L2 load balancer; `None` with `Listener.none()`.
        listener: The L2 listener that takes requests; `None` with `Listener.none()`.
        queue: The queue that feeds workers; `None` but with `Listener.none()`.
        url: Where requests go, or the URL of the queue.
        load_budget: How long a node may take, and the timeouts that follow.
        bucket: The bucket for access logs and for the record of boots that failed, which is kept when the stack is
            deleted.

    Raises:
        GpuConstructsError: If something about it would fail at deploy; all that is known is in one message.

    The L1 resources beneath are the `node.default_child` of the attributes above.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        instance_types: Sequence[InstanceType],
        runtime: ServingRuntime,
        model: ModelSource = ModelSource.in_image(),
        vpc: ec2.IVpc | None = None,
        vpc_subnets: ec2.SubnetSelection | None = None,
        security_groups: Sequence[ec2.ISecurityGroup] = (),
        capacity: Capacity = Capacity.on_demand(),
        image: GpuImage | None = None,
        root_volume: Volume | None = None,
        data_volume: Volume | None = None,
        listener: Listener = Listener.internal_http(),
        min_capacity: int = 1,
        max_capacity: int = 4,
        warm_pool: int = 0,
        scaling: Sequence[Scaling] | None = None,
        rollout: Rollout = Rollout.rolling(),
        load_seconds: int | None = None,
        role: iam.IRole | None = None,
        allow_retired: bool = False,
    ) -> None:
        super().__init__(scope, id)
        node = Node(
            instance_type=instance_types[0] if instance_types else "",
            capacity=capacity,
            efa=Efa.OFF,
            image=image,
            allow_retired=allow_retired,
            root_volume=root_volume or rules.default_root(runtime, model),
            data_volume=data_volume,
            security_groups=1 + len(security_groups),
            boots=True,
        )
        tier = rules.Tier(
            instance_types=instance_types,
            node=node,
            runtime=runtime,
            model=model,
            listener=listener,
            vpc=vpc,
            vpc_subnets=vpc_subnets,
            min_capacity=min_capacity,
            max_capacity=max_capacity,
            warm_pool=warm_pool,
            scaling=DEFAULT_SCALING if scaling is None else scaling,
            rollout=rollout,
            load_seconds=load_seconds,
        )
        refuse(self, tier.problems(region_of(self)))
        warn(self, tier.doubts())
        self._wanted, self._runtime, self._model = tier, runtime, model
        assert isinstance(tier.budget, LoadBudget)
        self.load_budget = tier.budget
        self.vpc = vpc or create_vpc(self, "Vpc", zone_count=_ZONES)
        self.bucket = self._create_bucket()
        self.queue = self._create_queue()
        template, group_id = self._create_launch_template(security_groups, role)
        self.role, self.launch_template = template.role, template.launch_template
        self.node_group = self._create_node_group(template, group_id)
        self.auto_scaling_group = self.node_group.auto_scaling_group
        self._front = self._create_front()
        self._create_scaling()

    @property
    def connections(self) -> ec2.Connections:
        """The connections of the nodes; those of the load balancer are `load_balancer.connections`."""
        return self.node_group.connections

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The principal to which grants for the nodes go."""
        return self.node_group.grant_principal

    @property
    def load_balancer(self) -> elbv2.ApplicationLoadBalancer | elbv2.NetworkLoadBalancer | None:
        """The L2 load balancer; `None` with `Listener.none()`."""
        return self._front.load_balancer if self._front else None

    @property
    def listener(self) -> elbv2.ApplicationListener | elbv2.NetworkListener | None:
        """The L2 listener that takes requests; `None` with `Listener.none()`."""
        return self._front.listener if self._front else None

    @property
    def url(self) -> str:
        """Where requests go: to the domain name, or else to the name of the load balancer; or the URL of the queue."""
        wanted = self._wanted.listener
        if self.queue:
            return self.queue.queue_url
        assert self._front is not None
        name = wanted.domain_name or self._front.load_balancer.load_balancer_dns_name
        if wanted.kind == "nlb":
            return f"{name}:{wanted.port}"
        return f"{'https' if wanted.certificate else 'http'}://{name}"

    def metric_gpu_utilization(self, *, statistic: str = "Average", period: Duration = _PERIOD) -> cloudwatch.Metric:
        """Return the utilisation of the GPUs of all nodes that serve, in percent."""
        return self._group_metric(dimensions.GPU_UTILIZATION, statistic, period)

    def metric_gpu_memory_utilization(self, *, period: Duration = _PERIOD) -> cloudwatch.MathExpression:
        """Return how much of the memory of the GPUs of all nodes is used, in percent."""
        return cloudwatch.MathExpression(
            expression="100 * used / total",
            label="GPU memory",
            period=period,
            using_metrics={
                "used": self._group_metric(dimensions.GPU_MEMORY_USED, "Average", period),
                "total": self._group_metric(dimensions.GPU_MEMORY_TOTAL, "Average", period),
            },
        )

    def metric_requests(self, *, statistic: str = "Sum", period: Duration = _PERIOD) -> cloudwatch.Metric:
        """Return the requests, of an Application Load Balancer; the new connections of a network one."""
        network = self._wanted.listener.kind == "nlb"
        return self._front_metric(dimensions.FLOWS if network else dimensions.REQUESTS, statistic, period)

    def metric_latency(self, *, statistic: str = "p95", period: Duration = _PERIOD) -> cloudwatch.Metric:
        """Return the seconds until the server begins to answer, of an Application Load Balancer."""
        return self._front_metric(dimensions.LATENCY, statistic, period)

    def metric_errors(self, *, statistic: str = "Sum", period: Duration = _PERIOD) -> cloudwatch.Metric:
        """Return the answers of the server with 5xx, of an Application Load Balancer."""
        return self._front_metric(dimensions.TARGET_ERRORS, statistic, period)

    def _create_bucket(self) -> s3.Bucket:
        return s3.Bucket(
            self,
            "Bucket",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            # Load balancers write to no bucket that is encrypted with a KMS key.
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[
                s3.LifecycleRule(id="ExpireAccessLogs", prefix=f"{LOG_PREFIX}/", expiration=Duration.days(90))
            ],
            removal_policy=RemovalPolicy.RETAIN,
        )

    def _create_queue(self) -> sqs.IQueue | None:
        listener = self._wanted.listener
        if listener.takes_requests:
            return None
        return listener.queue or create_queue(self, "Queue", request_seconds=self._runtime.request_seconds)

    def _create_launch_template(
        self, security_groups: Sequence[ec2.ISecurityGroup], role: iam.IRole | None
    ) -> tuple[GpuLaunchTemplate, GroupId]:
        node, group_id = self._wanted.node, GroupId()
        assert isinstance(node.instance, GpuInstance)
        serving = node_side.serving(
            self,
            runtime=self._runtime,
            model=self._model,
            listener=self._wanted.listener,
            budget=self.load_budget,
            instance=node.instance,
            queue=self.queue,
            signalled=group_id if self._wanted.waits else None,
        )
        template = GpuLaunchTemplate(
            self,
            "LaunchTemplate",
            instance_type=node.instance,
            vpc=self.vpc,
            image=node.image,
            capacity=node.capacity,
            efa=node.efa,
            bootstrap=Bootstrap.standalone(records=self.bucket).serves(serving),
            security_groups=security_groups,
            root_volume=node.root_volume,
            data_volume=node.data_volume,
            role=role,
            allow_retired=node.allow_retired,
        )
        node_side.grant(
            self,
            template.role,
            runtime=self._runtime,
            model=self._model,
            queue=self.queue,
            signals=self._wanted.waits,
        )
        return template, group_id

    def _create_node_group(self, template: GpuLaunchTemplate, group_id: GroupId) -> GpuNodeGroup:
        tier = self._wanted
        subnets = tier.subnets(self.vpc)
        nodes = GpuNodeGroup(
            self,
            "Nodes",
            launch_template=template,
            vpc_subnets=ec2.SubnetSelection(subnets=subnets),
            min_capacity=tier.min_capacity,
            max_capacity=tier.max_capacity,
            instance_types=tier.types if len(tier.types) > 1 else (),
        )
        group = group_id.group = nodes.auto_scaling_group
        # A node that boots before its way out exists cannot reach Systems Manager or fetch anything.
        nodes.node.add_dependency(*(one for subnet in subnets for one in way_out(self.vpc, subnet)))
        group_settings.apply(
            group,
            rollout=tier.rollout,
            budget=self.load_budget,
            min_capacity=tier.min_capacity,
            waits=tier.waits,
        )
        if tier.warm_pool:
            group_settings.create_warm_pool(self, "WarmPool", group, tier.warm_pool)
        return nodes

    def _create_front(self) -> ApplicationFront | NetworkFront | None:
        tier, listener = self._wanted, self._wanted.listener
        if not listener.takes_requests:
            return None
        seconds = listener_rules.deregistration_seconds(self._runtime, tier.node.capacity)
        front = Front(
            vpc=self.vpc,
            subnets=tier.front_subnets(self.vpc),
            listener=listener,
            runtime=self._runtime,
            group=self.auto_scaling_group,
            deregistration=Duration.seconds(seconds),
        )
        if listener.kind == "nlb":
            return NetworkFront(self, "LoadBalancer", front=front)
        return ApplicationFront(self, "LoadBalancer", front=front, log_bucket=self._log_bucket())

    def _log_bucket(self) -> s3.IBucket | None:
        wanted = self._wanted.listener.access_logs
        if not wanted:
            return None
        if region_of(self) is UNKNOWN:
            warn(self, listener_rules.log_doubts())
            return None
        return self.bucket if wanted is True else wanted

    def _create_scaling(self) -> None:
        chosen = self._wanted.scaling
        policies.create_policies(self, self.auto_scaling_group, chosen)
        if any(policy.measure == "gpu-utilization" for policy in chosen):
            samples = self.metric_gpu_utilization(statistic="SampleCount", period=Duration.minutes(5))
            policies.create_missing_alarm(self, "GpuMetricsMissing", samples)

    def _group_metric(self, series: Series, statistic: str, period: Duration) -> cloudwatch.Metric:
        return policies.group_metric(self.auto_scaling_group, series, statistic=statistic, period=period)

    def _front_metric(self, series: Series, statistic: str, period: Duration) -> cloudwatch.Metric:
        kind = self._wanted.listener.kind
        refuse(self, listener_rules.metric_problems(kind, series))
        assert self._front is not None
        return cloudwatch.Metric(
            namespace=series.namespace,
            metric_name=series.name,
            dimensions_map={dimensions.LOAD_BALANCER: self._front.load_balancer.load_balancer_full_name},
            statistic=statistic,
            period=period,
        )
