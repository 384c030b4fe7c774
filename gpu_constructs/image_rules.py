"""Which machine image fits which GPU and instance type. Imports no aws_cdk.

`problems` are what would fail at deploy, or leave nodes without their GPUs; `warnings` are what cannot be verified.

NVIDIA's open kernel modules support the Turing generation (T4) and newer; Volta (V100) and older need the proprietary
ones, of driver branch R580 at most (R470 for K80). The DLAMI has the open ones alone: the last that had the others
dropped P3 by June 2026. See https://docs.nvidia.com/datacenter/tesla/drivers/ and the release notes of the DLAMI.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gpu_constructs.checks import UNKNOWN, Problem, Unknown
from gpu_constructs.images import ROOT_DEVICES, GpuImage

if TYPE_CHECKING:
    from gpu_constructs.instances.facts import GpuInstance

_AMI_ID = re.compile(r"ami-([0-9a-f]{8}|[0-9a-f]{17})")
_FRAMEWORK = re.compile(r"[a-z]+-\d+\.\d+")
LAST_BRANCH: Final = {"K80": 470, "M60": 580, "P4": 580, "P100": 580, "V100": 580}
_NOT_PACKAGED: Final = 470
BOOTS: Final = ("al2023", "ubuntu-22.04", "ubuntu-24.04")
"""The operating systems on which `Bootstrap.standalone` knows its way."""
# The Blackwell generation. Of HGX B200 the notes of https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/
# say it; of the others no minimum was found.
_MINIMUM_DRIVER: Final = {"B200": "570.133.20"}
_ABOUT_DRIVER: Final = {"B300": "580", "RTX PRO 4500": "580", "RTX PRO Server 6000": "575"}
# Release notes of the PyTorch DLAMI, 2026-09 and 2026-10.
_NOT_WITH_FRAMEWORK: Final = frozenset({"g7", "g7e", "p6-b300", "p6e-gb300"})


def problems(
    instance: GpuInstance, image: GpuImage | None, region: str | Unknown = UNKNOWN, *, boots: bool = False
) -> list[Problem]:
    """Say why nodes of an instance type cannot start from an image, or would not find their GPUs; nothing if they can.

    Args:
        instance: The instance type.
        image: The image; `None` for the default.
        region: Where it is looked for.
        boots: Whether nodes boot by `Bootstrap.standalone`.
    """
    image = image or GpuImage.default(instance, boots=boots)
    return [
        *_os(image),
        *_architecture(instance, image),
        *(_dlami(image) if image.is_dlami else _ami_ids(image, region)),
        *_parameter(image),
        *_driver(instance, image),
        *_boot(image, boots=boots),
    ]


def warnings(instance: GpuInstance, image: GpuImage | None, *, boots: bool = False) -> dict[str, str]:
    """Return what is not verified about an instance type and an image that has no problem, by the id of the warning."""
    image = image or GpuImage.default(instance, boots=boots)
    said = image.said
    framework = bool(image.framework) or said.framework
    unseen = bool(image.framework) and not image.pinned and (image.os == "al2023" or instance.architecture == "arm64")
    found = {
        "image-al2-end-of-life": image.system == "al2"
        and "Amazon Linux 2 reached its end of life on 2026-06-30: it gets no security fixes; use al2023",
        "image-framework-types": framework
        and instance.family in _NOT_WITH_FRAMEWORK
        and f"the release notes of the Deep Learning AMIs with a framework do not list {instance.family}; use the Base "
        "Deep Learning AMI, GpuImage.dlami() without framework, and bring the framework in a container",
        "image-types": image.is_dlami
        and not framework
        and (instance.family, image.os) == ("p6e-gb300", "ubuntu-22.04")
        and "the release notes of the Base Deep Learning AMI on Ubuntu 22.04 do not list p6e-gb300; use ubuntu-24.04",
        "image-parameter-unverified": unseen
        and f"no public parameter of this name was seen: {(image.parameter_for(instance) or ('',))[0]}; if the "
        "deployment does not find it, use os='ubuntu-24.04' or GpuImage.from_ssm(...)",
        "image-without-driver": said.driver == "none"
        and f"{image.parameter} names an image without an NVIDIA driver; use the one for GPUs",
        "image-two-drivers": image.install_cuda
        and said.driver in {"open", "proprietary"}
        and f"the image in {image.parameter} has an NVIDIA driver, over which install_cuda=True installs another one",
        "image-driver-not-packaged": image.install_cuda
        and LAST_BRANCH.get(instance.gpu) == _NOT_PACKAGED
        and f"{instance.gpu} needs NVIDIA driver R{_NOT_PACKAGED}, of which no package for this image was seen",
        "image-driver-minimum": _minimum_driver(instance, image),
        # EKS images list P3 and p3dn: they have two drivers and choose at boot
        # (https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-optimized-ami.html).
        "image-driver-branch": said.driver is None
        and said.publisher != "eks"
        and image.parameter is not None
        and not image.install_cuda
        and instance.gpu in LAST_BRANCH
        and f"{instance.gpu} needs the proprietary modules of NVIDIA driver R{LAST_BRANCH[instance.gpu]} or older; "
        f"check that the image in {image.parameter} has them",
    }
    return {what: text for what, text in found.items() if text}


def _os(image: GpuImage) -> list[Problem]:
    allowed = " | ".join(ROOT_DEVICES)
    said = image.said.os
    if image.system not in ROOT_DEVICES:
        given = repr(image.os) if image.os else f"nothing, and {image.parameter} does not say it"
        remedy = "say which it is: the root device follows from it"
        return [Problem(what="image: os", given=given, allowed=allowed, remedy=remedy)]
    if said and image.os != said and image.os:
        remedy = "leave os out where the name of the parameter says it"
        return [Problem(what="image: os", given=repr(image.os), allowed=f"{said!r} as in the name", remedy=remedy)]
    return []


def _architecture(instance: GpuInstance, image: GpuImage) -> list[Problem]:
    found = image.architecture or image.said.architecture
    if found in {None, instance.architecture}:
        return []
    if found not in {"x86_64", "arm64"}:
        allowed, remedy = '"x86_64" or "arm64"', "write it as EC2 does"
        return [Problem(what="image: architecture", given=repr(found), allowed=allowed, remedy=remedy)]
    return [
        Problem(
            what="image: architecture",
            given=f"{found} for {instance.name}",
            allowed=f"{instance.architecture}, as the instance type is",
            remedy=f"use an image for {instance.architecture} or another instance type",
            prevents=f"The architecture '{instance.architecture}' of the specified instance type does not match the "
            f"architecture '{found}' of the specified AMI",
        )
    ]


def _ami_ids(image: GpuImage, region: str | Unknown) -> list[Problem]:
    if isinstance(image.ami_ids, str):
        return _ami_id("image: ami_ids", image.ami_ids)
    if not isinstance(image.ami_ids, tuple):
        return []
    found = [problem for where, one in image.ami_ids for problem in _ami_id(f"image: ami_ids[{where!r}]", one)]
    regions = [where for where, _ in image.ami_ids]
    # Where only the deployment knows the Region, CloudFormation finds the id, but there must be one at all.
    if region in regions or (region is UNKNOWN and regions):
        return found
    missing = Problem(
        what="image: ami_ids",
        given=f"ids for {', '.join(regions) or 'no Region'}",
        allowed="an AMI id for the Region of the stack" + ("" if region is UNKNOWN else f", {region}"),
        remedy="copy the image there and add its id, or deploy to a Region that has one",
        prevents="InvalidAMIID.NotFound",
    )
    return [*found, missing]


def _ami_id(what: str, given: str | Unknown) -> list[Problem]:
    if given is UNKNOWN or _AMI_ID.fullmatch(str(given)):
        return []
    return [
        Problem(
            what=what,
            given=repr(given),
            allowed='"ami-" and 17 (or, of old ones, 8) hexadecimal digits',
            remedy="copy the id from DescribeImages",
            prevents=f'InvalidAMIID.Malformed: Invalid id: "{given}" (expecting "ami-...")',
        )
    ]


def _dlami(image: GpuImage) -> list[Problem]:
    found = []
    if image.framework and not _FRAMEWORK.fullmatch(image.framework):
        found.append(
            Problem(
                what="image: framework",
                given=repr(image.framework),
                allowed="a framework and its version joined by a hyphen",
                remedy='write it as the public parameters do, for example "pytorch-2.12"',
                prevents="Unable to fetch parameters from parameter store for this account",
            )
        )
    if image.os == "al2" and not image.ami_id():
        found.append(
            Problem(
                what="image: pinned",
                given=repr(image.pinned),
                allowed="an AMI id: of Amazon Linux 2 no public parameter of the Deep Learning AMI is known",
                remedy='use os="al2023", or pin the id of an older image',
            )
        )
    elif str(image.pinned).startswith("ami-"):
        found += _ami_id("image: pinned", str(image.pinned))
    elif image.pinned is not None and not re.fullmatch(r"[1-9]\d*", str(image.pinned)):
        found.append(
            Problem(
                what="image: pinned",
                given=repr(image.pinned),
                allowed='an AMI id ("ami-...") or a version of the public parameter (1 or more)',
                remedy="see GetParameter for both",
            )
        )
    return found


def _parameter(image: GpuImage) -> list[Problem]:
    if not isinstance(image.parameter, str):
        return []
    name = re.sub(r":\d+$", "", image.parameter)
    if name and not (image.said.publisher in {"ecs", "eks"} and not name.endswith("/image_id")):
        return []
    return [
        Problem(
            what="image: parameter",
            given=repr(image.parameter),
            allowed="the name of a parameter whose value is an AMI id",
            remedy=f"append /image_id: {name} holds a JSON document" if name else "name it",
            prevents="Parameter value is not a valid AMI id",
        )
    ]


def _driver(instance: GpuInstance, image: GpuImage) -> list[Problem]:
    # An AMI of Amazon Linux 2 that a user pins may be one of those with the proprietary driver.
    open_driver = (image.is_dlami and image.os != "al2") or image.said.driver == "open"
    branch = LAST_BRANCH.get(instance.gpu)
    if branch is None or not open_driver:
        return []
    return [
        Problem(
            what="image",
            given=f"the Deep Learning AMI for {instance.name!r} with {instance.gpu} GPUs",
            allowed=f"one with the proprietary NVIDIA driver R{branch} or older: the open one supports T4 and newer, "
            "and no current Deep Learning AMI has had another since mid-2026",
            remedy='pass image=GpuImage.custom("ami-...", os="al2023") with an image of your own that has such a '
            "driver, or with install_cuda=True one that has none, or use a newer instance type",
            prevents="nvidia-smi: No devices were found",
        )
    ]


def _minimum_driver(instance: GpuInstance, image: GpuImage) -> str | None:
    said = image.said
    if said.driver == "proprietary" and instance.gpu in {*_MINIMUM_DRIVER, *_ABOUT_DRIVER}:
        return f"{instance.gpu} works with the open NVIDIA driver alone, and {image.parameter} names a proprietary one"
    newest = (image.is_dlami and not image.pinned) or said.publisher is not None
    if newest:
        return None
    if instance.gpu in _MINIMUM_DRIVER:
        return (
            f"{instance.gpu} needs NVIDIA driver {_MINIMUM_DRIVER[instance.gpu]} or newer; check that the image has it"
        )
    if instance.gpu in _ABOUT_DRIVER:
        return (
            f"{instance.gpu} needs an NVIDIA driver of about {_ABOUT_DRIVER[instance.gpu]} or newer (no minimum is "
            "published); check that the image has it"
        )
    return None


def _boot(image: GpuImage, *, boots: bool) -> list[Problem]:
    found = []
    if boots and image.system in ROOT_DEVICES and image.system not in BOOTS:
        found.append(
            Problem(
                what="image: os",
                given=repr(image.system),
                allowed=f"{' | '.join(BOOTS)} for nodes that boot by Bootstrap.standalone",
                remedy="use a newer one; a launch template of its own takes any, with Bootstrap.none() or .custom(...)",
            )
        )
    if image.install_cuda and not boots:
        found.append(
            Problem(
                what="image: install_cuda",
                given="True, where nothing installs it",
                allowed="True only for nodes that boot by Bootstrap.standalone",
                remedy="pass bootstrap=Bootstrap.standalone(), or leave install_cuda out",
                prevents="nvidia-smi: command not found",
            )
        )
    return found
