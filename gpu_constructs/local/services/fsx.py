"""FSx for Lustre of the local AWS: the CloudFormation types, and data repository associations, which moto lacks."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.core.utils import unix_time
from moto.ec2.models import ec2_backends
from moto.fsx.models import FileSystem, FSxBackend, fsx_backends
from moto.fsx.responses import FSxResponse

from gpu_constructs.local import extend
from gpu_constructs.local.clock import clock
from gpu_constructs.local.services.cloudformation import LocalResource


def install() -> None:
    """Add what moto's FSx lacks; the CloudFormation types are found by their names."""
    extend.replace_method(FileSystem, _described_with(FileSystem.to_dict), "to_dict")
    for operation in (
        create_data_repository_association,
        describe_data_repository_associations,
        delete_data_repository_association,
    ):
        extend.add_method(FSxResponse, operation)


class FileSystemResource(LocalResource):
    """AWS::FSx::FileSystem."""

    TYPE = "AWS::FSx::FileSystem"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        backend = fsx_backends[self.account_id][self.region]
        # What fails first on AWS: a subnet that is not there.
        ec2_backends[self.account_id][self.region].describe_subnets(subnet_ids=properties["SubnetIds"])
        self.file_system = backend.create_file_system(
            client_request_token=name,
            file_system_type=properties["FileSystemType"],
            storage_capacity=int(properties.get("StorageCapacity", 0)),
            storage_type=properties.get("StorageType", "SSD"),
            subnet_ids=properties["SubnetIds"],
            security_group_ids=properties.get("SecurityGroupIds", []),
            tags=properties.get("Tags"),
            kms_key_id=properties.get("KmsKeyId"),
            windows_configuration=properties.get("WindowsConfiguration"),
            lustre_configuration=properties.get("LustreConfiguration"),
            ontap_configuration=properties.get("OntapConfiguration"),
            file_system_type_version=properties.get("FileSystemTypeVersion"),
            open_zfs_configuration=properties.get("OpenZFSConfiguration"),
        )
        self.physical_resource_id = self.file_system.file_system_id

    def update(self, properties: dict[str, Any]) -> None:
        """In place, as AWS grows a file system; what AWS would replace is not replaced here."""
        self.file_system.storage_capacity = int(properties.get("StorageCapacity", 0))
        configuration = self.file_system.lustre_configuration or {}
        configuration.update(properties.get("LustreConfiguration", {}))

    def delete(self, *_: str) -> None:
        fsx_backends[self.account_id][self.region].delete_file_system(self.physical_resource_id, "", None, None, None)

    def attributes(self) -> dict[str, Any]:
        described = self.file_system.to_dict()
        return {
            "DNSName": described["DNSName"],
            "LustreMountName": described["LustreConfiguration"]["MountName"],
            "ResourceARN": described["ResourceARN"],
        }


@dataclass(frozen=True)
class Association:
    """A data repository association: a path of a file system tied to a path of a bucket."""

    file_system_id: str
    path: str
    repository: str
    import_meta_data: bool
    s3: dict[str, Any]
    association_id: str = field(default_factory=lambda: f"dra-{secrets.token_hex(8)}")
    created: datetime = field(default_factory=clock.now)

    def described(self, region: str, account_id: str) -> dict[str, Any]:
        """In the API's words."""
        return {
            "AssociationId": self.association_id,
            "ResourceARN": f"arn:aws:fsx:{region}:{account_id}:association/{self.file_system_id}/{self.association_id}",
            "FileSystemId": self.file_system_id,
            "Lifecycle": "AVAILABLE",
            "FileSystemPath": self.path,
            "DataRepositoryPath": self.repository,
            "BatchImportMetaDataOnCreate": self.import_meta_data,
            "S3": self.s3,
            "CreationTime": unix_time(self.created.replace(tzinfo=None)),
        }


_associations: dict[tuple[str, str], dict[str, Association]] = {}


def associations_of(account_id: str, region: str) -> dict[str, Association]:
    """The associations of an account in a Region, by id."""
    return _associations.setdefault((account_id, region), {})


class AssociationResource(LocalResource):
    """AWS::FSx::DataRepositoryAssociation."""

    TYPE = "AWS::FSx::DataRepositoryAssociation"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        del name
        backend = fsx_backends[self.account_id][self.region]
        self.physical_resource_id = _create(backend, properties).association_id

    def delete(self, *_: str) -> None:
        _delete(fsx_backends[self.account_id][self.region], self.physical_resource_id)

    def attributes(self) -> dict[str, Any]:
        association = associations_of(self.account_id, self.region)[self.physical_resource_id]
        arn = association.described(self.region, self.account_id)["ResourceARN"]
        return {"AssociationId": association.association_id, "ResourceARN": arn}


def create_data_repository_association(self: FSxResponse) -> str:
    """CreateDataRepositoryAssociation."""
    association = _create(self.fsx_backend, json.loads(self.body))
    return json.dumps({"Association": association.described(self.region, self.current_account)})


def describe_data_repository_associations(self: FSxResponse) -> str:
    """DescribeDataRepositoryAssociations, by ids or by the filter file-system-id."""
    asked = json.loads(self.body)
    backend = self.fsx_backend
    found = associations_of(backend.account_id, backend.region_name)
    chosen = [_existing(backend, i) for i in asked.get("AssociationIds", [])] or list(found.values())
    for one in asked.get("Filters", []):
        if one["Name"] == "file-system-id":
            chosen = [a for a in chosen if a.file_system_id in one["Values"]]
    return json.dumps({"Associations": [a.described(self.region, self.current_account) for a in chosen]})


def delete_data_repository_association(self: FSxResponse) -> str:
    """DeleteDataRepositoryAssociation."""
    association = _delete(self.fsx_backend, json.loads(self.body)["AssociationId"])
    return json.dumps({"AssociationId": association.association_id, "Lifecycle": "DELETING"})


def _create(backend: FSxBackend, properties: dict[str, Any]) -> Association:
    """From the properties, which are the same in CloudFormation and in the API."""
    file_system_id = properties["FileSystemId"]
    if file_system_id not in backend.file_systems:
        raise JsonRESTError("FileSystemNotFound", f"File system '{file_system_id}' does not exist.")
    found = associations_of(backend.account_id, backend.region_name)
    path = properties["FileSystemPath"]
    if any(a.file_system_id == file_system_id and a.path == path for a in found.values()):
        raise JsonRESTError("BadRequest", f"A data repository association already exists for the path {path}.")
    association = Association(
        file_system_id=file_system_id,
        path=path,
        repository=properties["DataRepositoryPath"],
        import_meta_data=str(properties.get("BatchImportMetaDataOnCreate", False)).lower() == "true",
        s3=properties.get("S3", {}),
    )
    found[association.association_id] = association
    return association


def _delete(backend: FSxBackend, association_id: str) -> Association:
    association = _existing(backend, association_id)
    return associations_of(backend.account_id, backend.region_name).pop(association.association_id)


def _existing(backend: FSxBackend, association_id: str) -> Association:
    found = associations_of(backend.account_id, backend.region_name)
    if association_id not in found:
        raise JsonRESTError(
            "DataRepositoryAssociationNotFound", f"Data repository association '{association_id}' does not exist."
        )
    return found[association_id]


def _described_with(moto: Callable[[FileSystem], dict[str, Any]]) -> Callable[[FileSystem], dict[str, Any]]:
    """What moto tells of a file system, and what its users need beside: state, mount name, VPC."""

    def to_dict(self: FileSystem) -> dict[str, Any]:
        described = moto(self)
        region, account_id = described["ResourceARN"].split(":")[3:5]
        described |= {"Lifecycle": "AVAILABLE", "OwnerId": account_id, "VpcId": _vpc_id(self, account_id, region)}
        if self.lustre_configuration is not None:
            described["LustreConfiguration"] = {**self.lustre_configuration, "MountName": _mount_name(self)}
        return described

    return to_dict


def _vpc_id(file_system: FileSystem, account_id: str, region: str) -> str:
    """Found when it is first described: here, unlike on AWS, a subnet can go before a file system that is kept."""
    if not hasattr(file_system, "vpc_id"):
        subnets = ec2_backends[account_id][region].describe_subnets(subnet_ids=file_system.subnet_ids)
        file_system.vpc_id = subnets[0].vpc_id  # type: ignore[attr-defined]  # ours, beside what moto keeps
    vpc_id: str = file_system.vpc_id  # type: ignore[attr-defined]
    return vpc_id


def _mount_name(file_system: FileSystem) -> str:
    """SCRATCH_1 is always mounted as "fsx"; every other type by eight characters of its own."""
    deployment_type = (file_system.lustre_configuration or {}).get("DeploymentType", "SCRATCH_1")
    return "fsx" if deployment_type == "SCRATCH_1" else file_system.file_system_id.removeprefix("fs-")[:8]
