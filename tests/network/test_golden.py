"""Every type of the catalogue, by every mode: what the construct writes is what EC2 takes."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from gpu_constructs import Efa, GpuImage, GpuInstance, GpuLaunchTemplate
from gpu_constructs.instances import catalog
from gpu_constructs.testing import assert_efa_valid, assert_imdsv2, assert_no_public_address

MODES = (Efa.AUTO, Efa.LEGACY)
# No Deep Learning AMI has a driver for V100; an image of one's own does for all of an architecture.
IMAGES = {
    architecture: GpuImage.custom("ami-0123456789abcdef0", os="al2023", architecture=architecture)
    for architecture in ("x86_64", "arm64")
}


@pytest.fixture(scope="module", params=MODES, ids=lambda mode: str(mode.value))
def templates(request: pytest.FixtureRequest) -> tuple[Efa, dict[str, Any]]:
    """All types in one stack, because a stack takes longer to write than to judge."""
    stack = Stack(App(), "Stack")
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1, subnet_configuration=[])
    for name in catalog.names():
        image = IMAGES[GpuInstance.of(name).architecture]
        GpuLaunchTemplate(stack, name.replace(".", "-"), instance_type=name, vpc=vpc, image=image, efa=request.param)
    return request.param, dict(Template.from_stack(stack).to_json())


def test_template_of_every_type_is_valid(templates: tuple[Efa, dict[str, Any]]) -> None:
    assert_efa_valid(templates[1])
    assert_imdsv2(templates[1])
    assert_no_public_address(templates[1])


def test_every_type_is_there_with_all_its_efa_interfaces(templates: tuple[Efa, dict[str, Any]]) -> None:
    mode, template = templates
    found = {
        resource["Properties"]["LaunchTemplateData"]["InstanceType"]: [
            nic.get("InterfaceType") for nic in resource["Properties"]["LaunchTemplateData"]["NetworkInterfaces"]
        ]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::EC2::LaunchTemplate"
    }
    kind = "efa" if mode is Efa.LEGACY else "efa-only"
    counts = {name: kinds.count(kind) for name, kinds in found.items()}
    assert counts == {name: GpuInstance.of(name).max_efa_interfaces for name in catalog.names()}


def test_interfaces_of_all_types_have_the_security_group_and_go_with_the_instance(
    templates: tuple[Efa, dict[str, Any]],
) -> None:
    for resource in templates[1]["Resources"].values():
        if resource["Type"] == "AWS::EC2::LaunchTemplate":
            data = resource["Properties"]["LaunchTemplateData"]
            assert "SecurityGroupIds" not in data
            assert all(len(nic["Groups"]) == 1 and nic["DeleteOnTermination"] for nic in data["NetworkInterfaces"])
