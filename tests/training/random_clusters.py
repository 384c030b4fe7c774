"""Clusters at random: arguments that AWS accepts together, and ways to spoil them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from aws_cdk import App, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from hypothesis import strategies as st

from gpu_constructs import Capacity, Efa, GpuImage, GpuInstance, Lustre, TrainingCluster, Volume, image_rules
from gpu_constructs.instances import catalog
from gpu_constructs.network import efa as efa_layout
from gpu_constructs.node_group import capacity_rules, market
from tests.storage.test_lustre_properties import VALID as FILE_SYSTEMS

ACCOUNT = "111111111111"
REGION = "us-east-1"
ZONE = "us-east-1a"
AMI = "ami-0123456789abcdef0"
OWN_PARAMETER = "/team/gpu/ami"
END = datetime(2027, 3, 1, 11, 30, tzinfo=timezone.utc)

VOLUMES = st.one_of(
    st.none(),
    st.integers(100, 16_000).map(Volume),
    st.builds(Volume, st.integers(100, 1000), type=st.just("io2"), iops=st.integers(3000, 40_000)),
    st.builds(Volume, st.integers(500, 1000), iops=st.integers(4000, 16_000), throughput_mb_s=st.integers(125, 1000)),
)


def new_app(account: str = ACCOUNT) -> App:
    # As if they had been looked up and kept in cdk.context.json.
    zones = {f"availability-zones:account={account}:region={REGION}": [ZONE, "us-east-1b"]}
    return App(context=zones)


def new_stack(account: str = ACCOUNT, app: App | None = None, name: str = "Stack") -> Stack:
    return Stack(app or new_app(account), name, env=Environment(account=account, region=REGION))


@dataclass(frozen=True)
class Wish:
    """A cluster as somebody may ask for it. The VPC is made when the cluster is, since it is of a stack."""

    options: dict[str, Any]
    own_vpc: bool

    def make(self, stack: Stack) -> TrainingCluster:
        options = dict(self.options)
        if self.own_vpc:
            options["vpc"] = ec2.Vpc(stack, "Vpc", availability_zones=[ZONE])
        return TrainingCluster(stack, "Cluster", **options)


def _capacities(instance: GpuInstance) -> st.SearchStrategy[Capacity]:
    block = Capacity.capacity_block("cr-0123456789abcdef0", start=END - timedelta(days=7), end=END)
    possible = [
        Capacity.on_demand(),
        Capacity.spot(),
        Capacity.spot(on_demand_base=1),
        Capacity.reservation("cr-0123456789abcdef0"),
        Capacity.reservation_group("arn:aws:resource-groups:us-east-1:111111111111:group/gpus"),
        block,
    ]
    return st.sampled_from([one for one in possible if not capacity_rules.type_problems(market.plain(one), instance)])


def _images(instance: GpuInstance) -> st.SearchStrategy[GpuImage | None]:
    architecture = instance.architecture
    own = [
        GpuImage.custom(AMI, os="al2023", architecture=architecture),
        GpuImage.custom({"us-east-1": AMI, "eu-west-1": AMI}, os="ubuntu-24.04", architecture=architecture),
        GpuImage.custom(AMI, os="al2023", architecture=architecture, install_cuda=True),
        GpuImage.from_ssm(OWN_PARAMETER, os="ubuntu-22.04"),
    ]
    if instance.gpu in image_rules.LAST_BRANCH:
        return st.sampled_from(own)
    public: list[GpuImage | None] = [None, GpuImage.dlami(os="ubuntu-24.04"), GpuImage.dlami(pinned=AMI)]
    return st.sampled_from([*public, *own])


@st.composite
def valid(draw: st.DrawFn) -> Wish:
    """A cluster that AWS would accept."""
    name = draw(st.sampled_from([*catalog.names(), *catalog.retired_names()]))
    instance = GpuInstance.of(name, allow_retired=True)
    modes = [Efa.AUTO, Efa.LEGACY, Efa.OFF, *([Efa.REQUIRED] if efa_layout.has_efa(instance) else [])]
    options = {
        "instance_type": name,
        "allow_retired": name in catalog.retired_names() or draw(st.booleans()),
        "node_count": draw(st.integers(1, 50)),
        "capacity": draw(_capacities(instance)),
        "efa": draw(st.sampled_from(modes)),
        "image": draw(_images(instance)),
        "file_system": draw(st.one_of(st.none(), st.just(Lustre.none()), FILE_SYSTEMS)),
        "root_volume": draw(VOLUMES),
        "data_volume": draw(VOLUMES),
        "availability_zone": draw(st.sampled_from([ZONE, None])),
    }
    return Wish(options, own_vpc=draw(st.booleans()))


SPOILED: dict[str, tuple[dict[str, Any], str]] = {
    "instance_type": ({"instance_type": "p9.24xlarge"}, "instance_type must be"),
    "node_count": ({"node_count": 0}, "node_count must be a whole number of at least 1, got 0"),
    "capacity": ({"capacity": Capacity.reservation("cr-1")}, "capacity reservation id must be"),
    "file_system": ({"file_system": Lustre.scratch(1300)}, "Lustre capacity_gib must be"),
    "root_volume": ({"root_volume": Volume(0)}, "root_volume"),
    "data_volume": ({"data_volume": Volume(100, type="st1")}, "data_volume"),  # type: ignore[arg-type]
    "vpc_subnets": ({"vpc_subnets": ec2.SubnetSelection()}, "vpc_subnets must be left out"),
    "security_groups": ({}, "security_groups must be at most 16"),
}
"""An argument that is wrong whatever the others are, and the words that say so."""
