"""S3 of the local AWS: buckets with what CloudFormation says of them, bucket policies, and what those decide."""

from __future__ import annotations

import json
from typing import Any

from moto.iam.access_control import IAMPolicy, PermissionResult
from moto.s3.models import FakeBucket, PublicAccessBlock, s3_backends
from moto.utilities.utils import get_partition

from gpu_constructs.local import extend
from gpu_constructs.local.services.cloudformation import LocalResource


def install() -> None:
    """Have buckets created whole and their policies judged; the CloudFormation type is found by its name."""
    extend.replace_method(FakeBucket, get_permission)
    extend.extend_creation(FakeBucket, _apply)


def get_permission(bucket: FakeBucket, action: str, resource: str) -> PermissionResult:
    """Replaces `FakeBucket.get_permission`, which takes a condition it cannot judge for a denial.

    The bucket of `cdk bootstrap` denies whatever comes without TLS; nothing on loopback has any.
    """
    document = json.loads(bucket.policy or b'{"Statement": []}')
    statements = document["Statement"] if isinstance(document["Statement"], list) else [document["Statement"]]
    judged = [statement for statement in statements if "Condition" not in statement]
    policy = IAMPolicy(json.dumps({**document, "Statement": judged}))
    return policy.is_action_permitted(action, resource)


def _apply(bucket: FakeBucket, properties: dict[str, Any], account_id: str, region: str) -> None:
    """Of moto's buckets, CloudFormation sets encryption and tags; here the rest that a bucket of ours has."""
    backend: Any = s3_backends[account_id][get_partition(region)]
    if "BucketEncryption" not in properties:
        # What S3 does with every bucket by itself:
        # https://docs.aws.amazon.com/AmazonS3/latest/userguide/default-bucket-encryption.html
        rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
        backend.put_bucket_encryption(bucket_name=bucket.name, encryption={"Rule": rule})
    if "VersioningConfiguration" in properties:
        backend.put_bucket_versioning(bucket.name, properties["VersioningConfiguration"]["Status"])
    if "PublicAccessBlockConfiguration" in properties:
        blocked = properties["PublicAccessBlockConfiguration"]
        names = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
        bucket.public_access_block = PublicAccessBlock(*(blocked.get(name, False) for name in names))
    if "OwnershipControls" in properties:
        ownership = properties["OwnershipControls"]["Rules"][0]["ObjectOwnership"]
        backend.put_bucket_ownership_controls(bucket.name, ownership)
    if "LifecycleConfiguration" in properties:
        bucket.set_lifecycle([_lifecycle_rule(rule) for rule in properties["LifecycleConfiguration"]["Rules"]])


def _lifecycle_rule(rule: dict[str, Any]) -> dict[str, Any]:
    """CloudFormation's rule in the API's words."""
    said = {
        "ID": rule.get("Id", ""),
        "Status": rule["Status"],
        "Filter": {"Prefix": rule.get("Prefix", "")},
        "Expiration": {"Days": rule["ExpirationInDays"]} if "ExpirationInDays" in rule else None,
        "NoncurrentVersionExpiration": rule.get("NoncurrentVersionExpiration"),
        "AbortIncompleteMultipartUpload": rule.get("AbortIncompleteMultipartUpload"),
        "Transition": [
            {"Days": one.get("TransitionInDays"), "StorageClass": one["StorageClass"]}
            for one in rule.get("Transitions", [])
        ],
    }
    return {name: value for name, value in said.items() if value}


class BucketPolicyResource(LocalResource):
    """AWS::S3::BucketPolicy."""

    TYPE = "AWS::S3::BucketPolicy"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        del name
        self.physical_resource_id = properties["Bucket"]
        policy = json.dumps(properties["PolicyDocument"]).encode()
        self._backend().put_bucket_policy(self.physical_resource_id, policy)

    def delete(self, *_: str) -> None:
        self._backend().delete_bucket_policy(self.physical_resource_id)

    def _backend(self) -> Any:
        return s3_backends[self.account_id][get_partition(self.region)]
