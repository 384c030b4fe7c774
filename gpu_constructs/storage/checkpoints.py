"""Where checkpoints are kept: a bucket that outlives nodes, file system and stack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

# Exactly what saving, finding, loading and pruning checkpoints need; the bucket's own grants are wider.
_BUCKET_ACTIONS: Final = ("s3:GetBucketLocation", "s3:ListBucket", "s3:ListBucketMultipartUploads")
_OBJECT_ACTIONS: Final = (
    "s3:AbortMultipartUpload",
    "s3:DeleteObject",
    "s3:GetObject",
    "s3:ListMultipartUploadParts",
    "s3:PutObject",
)


@dataclass(frozen=True, kw_only=True)
class Checkpoints:
    """How a cluster keeps checkpoints.

    Args:
        bucket: The bucket they go to. By default one is created, see `create_bucket`.
    """

    bucket: s3.IBucket | None = None


def create_bucket(scope: Construct, id: str) -> s3.Bucket:
    """Create a bucket for checkpoints.

    It is private, encrypted with S3's own keys and answers over TLS only. It is kept when the stack is deleted. Parts
    of uploads that never ended are deleted after a day: a node that is interrupted while it saves leaves some, and they
    are billed. Versions are not kept: a checkpoint is never overwritten, and a pruned one would be billed on.

    Args:
        scope: The construct that owns it.
        id: Its id there.
    """
    return s3.Bucket(
        scope,
        id,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        encryption=s3.BucketEncryption.S3_MANAGED,
        enforce_ssl=True,
        minimum_tls_version=1.2,
        object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
        lifecycle_rules=[
            s3.LifecycleRule(id="AbortIncompleteUploads", abort_incomplete_multipart_upload_after=Duration.days(1))
        ],
        removal_policy=RemovalPolicy.RETAIN,
    )


def grant_read_write(bucket: s3.IBucket, grantee: iam.IGrantable) -> None:
    """Let a grantee list, read, write and delete the bucket's objects, and use its key if it has one."""
    for actions, resource in ((_BUCKET_ACTIONS, bucket.bucket_arn), (_OBJECT_ACTIONS, bucket.arn_for_objects("*"))):
        iam.Grant.add_to_principal_or_resource(
            grantee=grantee, actions=list(actions), resource_arns=[resource], resource=bucket
        )
    if bucket.encryption_key is not None:
        bucket.encryption_key.grant_encrypt_decrypt(grantee)
