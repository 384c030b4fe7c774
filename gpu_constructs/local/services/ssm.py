"""SSM of the local AWS: parameters from CloudFormation, and the public ones that name Deep Learning AMIs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from moto.ssm import models
from moto.ssm.models import ParameterDict, ssm_backends

from gpu_constructs.local import extend
from gpu_constructs.local.clock import clock
from gpu_constructs.local.services.cloudformation import LocalResource

_DLAMI_PREFIX = "/aws/service/deeplearning/ami/"

# https://docs.aws.amazon.com/dlami/latest/devguide/find-dlami-id.html
_BASE_OSS = tuple(
    f"{_DLAMI_PREFIX}{architecture}/base-oss-nvidia-driver-gpu-{os}/latest/ami-id"
    for architecture in ("x86_64", "arm64")
    for os in ("amazon-linux-2023", "ubuntu-22.04", "ubuntu-24.04")
)
DLAMI_PARAMETERS = (
    *_BASE_OSS,
    f"{_DLAMI_PREFIX}x86_64/oss-nvidia-driver-gpu-pytorch-2.7-ubuntu-22.04/latest/ami-id",
    f"{_DLAMI_PREFIX}x86_64/oss-nvidia-driver-gpu-pytorch-2.10-ubuntu-24.04/latest/ami-id",
    f"{_DLAMI_PREFIX}x86_64/oss-nvidia-driver-gpu-pytorch-2.12-ubuntu-24.04/latest/ami-id",
)


def install() -> None:
    """Have the public parameters that moto has not recorded loaded as those that it has: at the first look."""
    moto = ParameterDict._check_loading_status
    extend.replace_method(ParameterDict, _check_loading_status_after(moto), "_check_loading_status")


class ParameterResource(LocalResource):
    """AWS::SSM::Parameter; moto's wants a name in the template."""

    TYPE = "AWS::SSM::Parameter"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        self.physical_resource_id = properties.get("Name", name)
        self._put(properties, overwrite=False)

    def update(self, properties: dict[str, Any]) -> None:
        """In place: a new version of the same parameter."""
        self._put(properties, overwrite=True)

    def delete(self, *_: str) -> None:
        ssm_backends[self.account_id][self.region].delete_parameter(self.physical_resource_id)

    def attributes(self) -> dict[str, Any]:
        parameter: Any = ssm_backends[self.account_id][self.region].get_parameter(self.physical_resource_id)
        return {"Type": parameter.parameter_type, "Value": parameter.value}

    def _put(self, properties: dict[str, Any], *, overwrite: bool) -> None:
        tags = [{"Key": key, "Value": value} for key, value in properties.get("Tags", {}).items()]
        ssm_backends[self.account_id][self.region].put_parameter(
            name=self.physical_resource_id,
            description=properties.get("Description", ""),
            value=properties["Value"],
            parameter_type=properties["Type"],
            allowed_pattern=properties.get("AllowedPattern", ""),
            keyid="",
            overwrite=overwrite,
            tags=tags,
            data_type=properties.get("DataType", "text"),
            tier=properties.get("Tier"),
            policies=properties.get("Policies"),
        )


def _check_loading_status_after(moto: Callable[[ParameterDict, str], None]) -> Callable[[ParameterDict, str], None]:
    def _check_loading_status(self: ParameterDict, key: str) -> None:
        moto(self, key)
        if str(key or "").startswith(_DLAMI_PREFIX) and not self.__dict__.get("dlami_loaded"):
            self.__dict__["dlami_loaded"] = True  # before the loop, which asks again
            for name in DLAMI_PARAMETERS:
                _seed(self, name)

    return _check_loading_status


def _seed(parameters: Any, name: str) -> None:
    """An AMI id that is made up, but always the same for one name."""
    parameter: Any = models.Parameter  # abstract by moto's annotations, although moto itself makes instances of it
    parameters[name].append(
        parameter(
            account_id=parameters.account_id,
            name=name,
            value=f"ami-{hashlib.sha256(name.encode()).hexdigest()[:17]}",
            parameter_type="String",
            description="made up by the local AWS",
            allowed_pattern=None,
            keyid=None,
            last_modified_date=clock.now(),
            version=1,
            data_type="aws:ec2:image",
        )
    )
