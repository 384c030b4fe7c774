"""Directories of a file system that mirror buckets: the data repository associations of FSx for Lustre."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from gpu_constructs.doubts import warn
from gpu_constructs.storage.lustre_links import Link, PlainLink, s3_path
from gpu_constructs.tokens import is_token, known

_EVENTS: Final = ("NEW", "CHANGED", "DELETED")
_KEY_ACTIONS: Final = ("kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey")


def plain(links: Sequence[Link]) -> list[PlainLink]:
    """Return links as the rules see them."""
    return [
        PlainLink(
            bucket=link.bucket.bucket_name,
            region=known(link.bucket.env.region),
            path=known(link.path),
            prefix=known(link.prefix),
        )
        for link in links
    ]


def create(scope: Construct, file_system_id: str, links: Sequence[Link]) -> None:
    """Link directories of a file system to buckets.

    A link goes with its stack even if the file system is kept, and leaves files and objects as they are.

    Args:
        scope: The construct of the file system.
        file_system_id: The file system.
        links: The links, for which `lustre_links.problems` finds nothing.
    """
    if not links:
        return
    parent = Construct(scope, "Links")
    for index, link in enumerate(links):
        association = fsx.CfnDataRepositoryAssociation(
            parent,
            _id(link, index),
            file_system_id=file_system_id,
            file_system_path=link.path,
            data_repository_path=s3_path(link.bucket.bucket_name, link.prefix),
            # Objects that are there already would otherwise not appear.
            batch_import_meta_data_on_create=True,
            s3=fsx.CfnDataRepositoryAssociation.S3Property(
                auto_import_policy=fsx.CfnDataRepositoryAssociation.AutoImportPolicyProperty(events=list(_EVENTS)),
                auto_export_policy=fsx.CfnDataRepositoryAssociation.AutoExportPolicyProperty(
                    events=[event for event in _EVENTS if link.export_deletes or event != "DELETED"]
                ),
            ),
        )
        association.apply_removal_policy(RemovalPolicy.DESTROY)
        if link.bucket.encryption_key is not None:
            _allow_key(parent, link.bucket.encryption_key)


def _id(link: Link, index: int) -> str:
    # By the directory, so that leaving one link out replaces none of the others; CDK takes no token and no "/".
    if is_token(link.path):
        return f"Link{index}"
    return link.path.strip("/").replace("/", "|") or "Root"


def _allow_key(scope: Construct, key: kms.IKey) -> None:
    """Let FSx use a key through S3.

    The principal cannot be named: its role exists only once the file system is linked, and a key takes no policy that
    names a role which does not exist. Nor can the bucket, which refers to its key. Hence the second form in
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/s3-server-side-encryption-support.html
    """
    stack = Stack.of(scope)
    statement = iam.PolicyStatement(
        sid="FsxThroughS3",
        principals=[iam.AnyPrincipal()],
        actions=list(_KEY_ACTIONS),
        resources=["*"],
        conditions={
            "StringEquals": {
                "kms:CallerAccount": stack.account,
                "kms:ViaService": f"s3.{stack.region}.amazonaws.com",
            },
            "StringLike": {"aws:userid": "*:FSx"},
        },
    )
    if not key.add_to_resource_policy(statement, allow_no_op=True).statement_added:
        warn(
            scope,
            {
                "keyOfLinkedBucket": f"the key {key.node.path} of a linked bucket is imported and its policy stays "
                "as it is; it must let FSx use it "
                "(https://docs.aws.amazon.com/fsx/latest/LustreGuide/s3-server-side-encryption-support.html)"
            },
        )
