from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from gpu_constructs.storage.checkpoints import create_bucket, grant_read_write
from tests.conftest import only


@pytest.fixture
def bucket(stack: Stack) -> dict[str, Any]:
    create_bucket(stack, "Bucket")
    return only(stack, "AWS::S3::Bucket")


def test_bucket_is_private_encrypted_and_kept(bucket: dict[str, Any]) -> None:
    assert bucket["DeletionPolicy"] == bucket["UpdateReplacePolicy"] == "Retain"
    assert set(bucket["Properties"]["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["Properties"]["BucketEncryption"]


def test_bucket_has_no_versions_and_forgets_unfinished_uploads_after_a_day(bucket: dict[str, Any]) -> None:
    assert "VersioningConfiguration" not in bucket["Properties"]
    (rule,) = bucket["Properties"]["LifecycleConfiguration"]["Rules"]
    assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 1}


def test_bucket_answers_over_tls_only(stack: Stack, bucket: dict[str, Any]) -> None:
    assert bucket
    statements = only(stack, "AWS::S3::BucketPolicy")["Properties"]["PolicyDocument"]["Statement"]
    denied = [statement["Condition"] for statement in statements if statement["Effect"] == "Deny"]
    assert {"Bool": {"aws:SecureTransport": "false"}} in denied


def test_grant_has_no_wildcard_actions(stack: Stack) -> None:
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    grant_read_write(create_bucket(stack, "Bucket"), role)
    statements = only(stack, "AWS::IAM::Policy")["Properties"]["PolicyDocument"]["Statement"]
    actions = [action for statement in statements for action in statement["Action"]]
    assert not [action for action in actions if "*" in action]
    assert {"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:ListBucket"} <= set(actions)


def test_grant_reaches_the_key_of_an_encrypted_bucket(stack: Stack) -> None:
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    grant_read_write(s3.Bucket(stack, "Bucket", encryption_key=kms.Key(stack, "Key")), role)
    statements = only(stack, "AWS::IAM::Policy")["Properties"]["PolicyDocument"]["Statement"]
    assert "kms:Decrypt" in [action for statement in statements for action in statement["Action"]]
