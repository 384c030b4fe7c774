from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_constructs import image_rules
from gpu_constructs.checks import UNKNOWN, Problem
from gpu_constructs.images import GpuImage
from gpu_constructs.instances import catalog
from gpu_constructs.instances.catalog import GpuInstance

AMI = "ami-0123456789abcdef0"
DLAMI = "/aws/service/deeplearning/ami/"
ECS = "/aws/service/ecs/optimized-ami/"
EKS = "/aws/service/eks/optimized-ami/1.34/"

P4D = GpuInstance.of("p4d.24xlarge")
P3DN = GpuInstance.of("p3dn.24xlarge")
G5G = GpuInstance.of("g5g.xlarge")
B200 = GpuInstance.of("p6-b200.48xlarge")

TYPES = st.sampled_from([*catalog.names(), *catalog.retired_names()]).map(
    lambda name: GpuInstance.of(name, allow_retired=True)
)
IMAGES = st.one_of(
    st.builds(
        GpuImage.dlami,
        os=st.sampled_from(["al2023", "ubuntu-24.04", "al2", "windows"]),
        framework=st.sampled_from([None, "pytorch-2.12", "torch"]),
        pinned=st.sampled_from([None, AMI, "ami-1", 3, 0, "x"]),
    ),
    st.builds(
        GpuImage.custom,
        st.sampled_from([AMI, "ami-1", {}, {"us-east-1": AMI}]),
        os=st.sampled_from(["al2", "ubuntu-22.04", "beos"]),
        architecture=st.sampled_from(["x86_64", "arm64", "ppc"]),
    ),
    st.builds(
        GpuImage.from_ssm,
        st.sampled_from(["/mine", f"{ECS}amazon-linux-2023/gpu/recommended/image_id", f"{EKS}amazon-linux-2/x", ""]),
        os=st.sampled_from([None, "al2023"]),
    ),
)


def _refused(image: GpuImage | None, instance: GpuInstance = P4D, region: Any = UNKNOWN) -> str:
    return "\n".join(str(problem) for problem in image_rules.problems(instance, image, region))


def _warned(image: GpuImage | None, instance: GpuInstance = P4D) -> set[str]:
    assert image_rules.problems(instance, image) == []
    return set(image_rules.warnings(instance, image))


# The default image.


@pytest.mark.parametrize("name", catalog.names())
def test_every_type_has_an_image_or_says_why_not(name: str) -> None:
    instance = GpuInstance.of(name)
    refused = _refused(None, instance)
    if instance.gpu == "V100":
        assert "driver R580 or older" in refused
        return
    assert refused == ""
    assert GpuImage.dlami().parameter_for(instance) == (
        f"{DLAMI}{instance.architecture}/base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id",
        None,
    )
    assert _warned(None, instance) == set()


@pytest.mark.parametrize("name", ["p3dn.24xlarge", *catalog.retired_names()])
def test_gpu_older_than_the_open_driver_needs_an_image_of_ones_own(name: str) -> None:
    """https://github.com/awslabs/amazon-eks-ami/pull/2824: the nodes start and find no GPU."""
    instance = GpuInstance.of(name, allow_retired=True)
    refused = _refused(None, instance)
    assert f"for '{name}' with {instance.gpu} GPUs" in refused
    assert f"driver R{470 if instance.gpu == 'K80' else 580} or older" in refused
    assert 'pass image=GpuImage.custom("ami-...", os="al2023")' in refused
    assert "nvidia-smi: No devices were found" in refused
    assert _refused(GpuImage.custom(AMI, os="al2023"), instance) == ""


@pytest.mark.parametrize(
    ("image", "refused"),
    [
        (GpuImage.dlami(os="ubuntu-24.04"), True),
        (GpuImage.dlami(pinned=AMI), True),
        (GpuImage.from_ssm(f"{DLAMI}x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"), True),
        (GpuImage.from_ssm("/aws/service/pcs/ami/dlami-base-ubuntu2404/x86_64/latest/ami-id"), True),
        (GpuImage.dlami(os="al2", pinned=AMI), False),  # one of those with the proprietary driver
        (GpuImage.from_ssm(f"{DLAMI}x86_64/base-proprietary-nvidia-driver-gpu-amazon-linux-2/latest/ami-id"), False),
        (GpuImage.from_ssm(f"{EKS}amazon-linux-2023/x86_64/nvidia/recommended/image_id"), False),
        (GpuImage.from_ssm("/mine", os="al2023"), False),
    ],
)
def test_v100_is_refused_wherever_the_driver_is_known_to_be_the_open_one(image: GpuImage, *, refused: bool) -> None:
    assert ("driver R580 or older" in _refused(image, P3DN)) is refused
    assert _refused(image) == ""


@pytest.mark.parametrize(
    ("parameter", "warned"),
    [
        ("/mine", True),
        (f"{ECS}amazon-linux-2023/gpu/recommended/image_id", True),
        (f"{EKS}amazon-linux-2023/x86_64/nvidia/recommended/image_id", False),
    ],
)
def test_v100_with_a_driver_that_is_not_known_is_a_warning(parameter: str, *, warned: bool) -> None:
    image = GpuImage.from_ssm(parameter, os="al2023")
    assert ("image-driver-branch" in _warned(image, P3DN)) is warned
    assert "image-driver-branch" not in _warned(image)


# The architecture.


@pytest.mark.parametrize(
    ("image", "architecture"),
    [
        (GpuImage.custom(AMI, os="al2023"), "x86_64"),
        (GpuImage.custom(AMI, os="al2023", architecture="arm64"), "arm64"),
        (GpuImage.from_ssm(f"{DLAMI}arm64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"), "arm64"),
        (GpuImage.from_ssm(f"{EKS}amazon-linux-2023/x86_64/nvidia/recommended/image_id"), "x86_64"),
        (GpuImage.from_ssm(f"{EKS}amazon-linux-2-gpu/recommended/image_id"), "x86_64"),
        (GpuImage.from_ssm(f"{ECS}amazon-linux-2023/gpu/recommended/image_id"), "x86_64"),
    ],
)
def test_architecture_of_the_image_is_that_of_the_type(image: GpuImage, architecture: str) -> None:
    """https://github.com/aws/aws-cdk/issues/12279: CDK says nothing."""
    fits, other = (P4D, G5G) if architecture == "x86_64" else (G5G, P4D)
    assert _refused(image, fits) == ""
    assert f"got {architecture} for {other.name}" in _refused(image, other)
    assert (
        f"The architecture '{other.architecture}' of the specified instance type does not match the architecture "
        f"'{architecture}' of the specified AMI"
    ) in _refused(image, other)


def test_architecture_that_does_not_exist_is_refused() -> None:
    refused = _refused(GpuImage.custom(AMI, os="al2023", architecture="amd64"))
    assert 'image: architecture must be "x86_64" or "arm64", got \'amd64\'' in refused


def test_architecture_that_nobody_says_is_not_judged() -> None:
    assert _refused(GpuImage.from_ssm("/mine", os="al2023"), G5G) == ""


# The operating system.


def test_operating_system_is_one_that_the_root_device_is_known_of() -> None:
    os: Any = "centos"
    assert "image: os must be al2023 | al2 | ubuntu-22.04 | ubuntu-24.04, got 'centos'" in _refused(
        GpuImage.custom(AMI, os=os)
    )
    assert "image: os must be" in _refused(GpuImage.dlami(os=os))
    assert _refused(GpuImage.custom(AMI, os="ubuntu-22.04")) == ""


def test_operating_system_of_a_parameter_of_ones_own_must_be_said() -> None:
    assert "got nothing, and /golden/ami does not say it" in _refused(GpuImage.from_ssm("/golden/ami"))
    assert _refused(GpuImage.from_ssm("/golden/ami", os="ubuntu-24.04")) == ""


def test_operating_system_may_not_contradict_the_name() -> None:
    name = f"{ECS}amazon-linux-2023/gpu/recommended/image_id"
    assert "must be 'al2023' as in the name, got 'al2'" in _refused(GpuImage.from_ssm(name, os="al2"))
    assert _refused(GpuImage.from_ssm(name, os="al2023")) == ""


def test_amazon_linux_2_has_reached_its_end() -> None:
    assert _warned(GpuImage.custom(AMI, os="al2")) == {"image-al2-end-of-life"}
    assert "image-al2-end-of-life" in _warned(GpuImage.from_ssm(f"{ECS}amazon-linux-2/gpu/recommended/image_id"))
    assert _warned(GpuImage.custom(AMI, os="al2023")) == set()


# AMI ids.


@pytest.mark.parametrize("wrong", ["ami-123", "AMI-0123456789abcdef0", "i-0123456789abcdef0", f" {AMI}", ""])
def test_ami_id_has_its_form(wrong: str) -> None:
    expected = f'InvalidAMIID.Malformed: Invalid id: "{wrong}" (expecting "ami-...")'
    assert expected in _refused(GpuImage.custom(wrong, os="al2023"))
    assert "image: ami_ids['us-east-1']" in _refused(GpuImage.custom({"us-east-1": wrong}, os="al2023"))


@pytest.mark.parametrize("right", [AMI, "ami-01234567"])
def test_ami_id_of_either_length_is_taken(right: str) -> None:
    assert _refused(GpuImage.custom(right, os="al2023")) == ""
    assert _refused(GpuImage.dlami(pinned=right)) == ""


def test_ami_id_that_only_the_deployment_knows_is_not_judged() -> None:
    image = GpuImage.custom(AMI, os="al2023")
    assert image_rules.problems(P4D, dataclasses.replace(image, ami_ids=UNKNOWN)) == []
    assert image_rules.problems(P4D, dataclasses.replace(image, ami_ids=(("us-east-1", UNKNOWN),))) == []


def test_ami_ids_hold_one_for_the_region() -> None:
    image = GpuImage.custom({"us-east-1": AMI, "us-west-2": AMI}, os="al2023")
    assert _refused(image, region="us-west-2") == ""
    assert _refused(image, region=UNKNOWN) == ""
    refused = _refused(image, region="eu-west-1")
    assert "an AMI id for the Region of the stack, eu-west-1, got ids for us-east-1, us-west-2" in refused
    assert "got ids for no Region" in _refused(GpuImage.custom({}, os="al2023"))


# The Deep Learning AMI.


def test_framework_on_ubuntu_is_taken() -> None:
    assert _warned(GpuImage.dlami(os="ubuntu-24.04", framework="pytorch-2.12")) == set()


@pytest.mark.parametrize("wrong", ["PyTorch 2.12", "pytorch", "pytorch-2.12.1"])
def test_framework_is_written_as_in_the_parameters(wrong: str) -> None:
    assert "image: framework must be" in _refused(GpuImage.dlami(framework=wrong))


@pytest.mark.parametrize("name", ["g7e.48xlarge", "g7.2xlarge", "p6-b300.48xlarge"])
def test_framework_images_do_not_list_the_newest_types(name: str) -> None:
    instance = GpuInstance.of(name)
    by_name = GpuImage.from_ssm(f"{DLAMI}x86_64/oss-nvidia-driver-gpu-pytorch-2.12-ubuntu-24.04/latest/ami-id")
    for image in (GpuImage.dlami(os="ubuntu-24.04", framework="pytorch-2.12"), by_name):
        assert _warned(image, instance) == {"image-framework-types"}
        assert _warned(image, B200) == set()
    assert _warned(GpuImage.dlami(os="ubuntu-24.04"), instance) == set()


def test_parameter_whose_name_was_not_seen_is_a_warning() -> None:
    assert _warned(GpuImage.dlami(framework="pytorch-2.10")) == {"image-parameter-unverified"}
    assert _warned(GpuImage.dlami(os="ubuntu-24.04", framework="pytorch-2.10"), G5G) == {"image-parameter-unverified"}
    assert _warned(GpuImage.dlami(framework="pytorch-2.10", pinned=AMI)) == set()


def test_base_image_of_ubuntu_22_does_not_list_gb300() -> None:
    instance = dataclasses.replace(G5G, name="p6e-gb300.36xlarge")
    assert _warned(GpuImage.dlami(os="ubuntu-22.04"), instance) == {"image-types"}
    assert _warned(GpuImage.dlami(os="ubuntu-24.04"), instance) == set()


@pytest.mark.parametrize("right", [AMI, 7, "7", None])
def test_pinned_is_an_ami_or_a_version(right: Any) -> None:
    assert _refused(GpuImage.dlami(pinned=right)) == ""


@pytest.mark.parametrize("wrong", ["latest", 0, -1, "1.2", "ami-12"])
def test_pinned_is_nothing_else(wrong: Any) -> None:
    assert "image: pinned must be" in _refused(GpuImage.dlami(pinned=wrong))


@pytest.mark.parametrize("pinned", [None, 3])
def test_deep_learning_ami_on_amazon_linux_2_must_be_pinned_by_its_id(pinned: Any) -> None:
    assert "of Amazon Linux 2 no public parameter" in _refused(GpuImage.dlami(os="al2", pinned=pinned))
    assert _refused(GpuImage.dlami(os="al2", pinned=AMI)) == ""


# Drivers and parameters.


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p6-b200.48xlarge", "needs NVIDIA driver 570.133.20 or newer"),
        ("p6-b300.48xlarge", "about 580 or newer (no minimum is published)"),
        ("g7e.2xlarge", "about 575 or newer (no minimum is published)"),
        ("g7.2xlarge", "about 580 or newer (no minimum is published)"),
    ],
)
def test_blackwell_needs_a_recent_driver(name: str, text: str) -> None:
    instance = GpuInstance.of(name)
    for image in (GpuImage.custom(AMI, os="al2023"), GpuImage.dlami(pinned=AMI), GpuImage.from_ssm("/m", os="al2")):
        assert text in image_rules.warnings(instance, image)["image-driver-minimum"]
        assert "image-driver-minimum" not in image_rules.warnings(P4D, image)
    assert _warned(GpuImage.dlami(), instance) == set()


def test_blackwell_works_with_the_open_driver_alone() -> None:
    """https://github.com/awslabs/amazon-eks-ami/issues/2768."""
    image = GpuImage.from_ssm(f"{DLAMI}x86_64/base-proprietary-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id")
    assert "open NVIDIA driver alone" in image_rules.warnings(B200, image)["image-driver-minimum"]
    assert _warned(image) == set()


@pytest.mark.parametrize(
    ("parameter", "warned"),
    [
        (f"{ECS}amazon-linux-2023/recommended/image_id", True),
        (f"{EKS}amazon-linux-2023/x86_64/standard/recommended/image_id", True),
        (f"{EKS}amazon-linux-2023/x86_64/neuron/recommended/image_id", True),
        (f"{ECS}amazon-linux-2023/gpu/recommended/image_id", False),
        (f"{EKS}amazon-linux-2023/x86_64/nvidia/recommended/image_id", False),
    ],
)
def test_image_without_a_driver_is_a_warning(parameter: str, *, warned: bool) -> None:
    assert _warned(GpuImage.from_ssm(parameter)) == ({"image-without-driver"} if warned else set())


@pytest.mark.parametrize("name", [f"{ECS}amazon-linux-2023/gpu/recommended", f"{EKS}amazon-linux-2-gpu/recommended"])
def test_parameter_holds_an_ami_id_not_a_document(name: str) -> None:
    assert f"append /image_id: {name} holds a JSON document" in _refused(GpuImage.from_ssm(name))
    assert _refused(GpuImage.from_ssm(f"{name}/image_id")) == ""


def test_parameter_has_a_name() -> None:
    assert "image: parameter must be" in _refused(GpuImage.from_ssm("", os="al2023"))


# All together.


@given(TYPES, st.one_of(st.none(), IMAGES), st.sampled_from([UNKNOWN, "us-east-1", "eu-west-1"]))
def test_every_image_is_refused_in_words_or_has_a_root_device_and_an_id(
    instance: GpuInstance, image: GpuImage | None, region: Any
) -> None:
    found = image_rules.problems(instance, image, region)
    assert all(isinstance(problem, Problem) for problem in found)
    if found:
        return
    image = image or GpuImage.dlami()
    assert image.root_device in {"/dev/xvda", "/dev/sda1"}
    assert image.ami_id() or image.parameter_for(instance) or image.ami_ids
    assert all(image_rules.warnings(instance, image).values())
