"""What a tier has beside its load balancer and its group: queues, secrets, repositories, dashboards, web ACLs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.local.services.load_balanced import balancer
from tests.local.services.stack import DeployedStack

Client = Callable[[str], Any]
MANIFEST = json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json"})
ACL = "arn:aws:wafv2:us-east-1:123456789012:regional/webacl/front/a1"


def queue(**properties: Any) -> dict[str, Any]:
    return {"Type": "AWS::SQS::Queue", "Properties": properties}


def attributes(of: Client, url: str) -> dict[str, str]:
    found: dict[str, str] = of("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    return found


def redrive(count: int) -> dict[str, Any]:
    return {"deadLetterTargetArn": {"Fn::GetAtt": ["Dead", "Arn"]}, "maxReceiveCount": count}


def test_a_queue_is_created_whole_and_changes_in_place(deployed: DeployedStack, of: Client) -> None:
    statement = {"Effect": "Deny", "Principal": "*", "Action": "sqs:*", "Resource": "*"}
    policy = {"Queues": [{"Ref": "Queue"}], "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]}}
    others = {"Dead": queue(), "Policy": {"Type": "AWS::SQS::QueuePolicy", "Properties": policy}}
    outputs = {"Url": {"Ref": "Queue"}, "Name": {"Fn::GetAtt": ["Queue", "QueueName"]}}
    deployed.deploy(
        outputs,
        Queue=queue(VisibilityTimeout=900, RedrivePolicy=redrive(3), SqsManagedSseEnabled=True),
        **others,
    )
    url = deployed.outputs()["Url"]
    found = attributes(of, url)
    assert found["VisibilityTimeout"] == "900"
    assert json.loads(found["RedrivePolicy"])["maxReceiveCount"] == 3
    assert found["SqsManagedSseEnabled"] == "true"
    assert found["QueueArn"].endswith(deployed.outputs()["Name"])
    of("sqs").send_message(QueueUrl=url, MessageBody="a request")

    deployed.deploy(outputs, Queue=queue(RedrivePolicy=redrive(5), KmsMasterKeyId="alias/aws/sqs"), **others)

    assert deployed.outputs()["Url"] == url
    found = attributes(of, url)
    assert (found["VisibilityTimeout"], found["ApproximateNumberOfMessages"]) == ("30", "1")
    assert json.loads(found["RedrivePolicy"])["maxReceiveCount"] == 5
    assert found["KmsMasterKeyId"] == "alias/aws/sqs"
    assert "Policy" in found
    assert deployed.delete() == "DELETE_COMPLETE"
    assert of("sqs").list_queues().get("QueueUrls", []) == []


@pytest.mark.parametrize(
    ("properties", "message"),
    [({"VisibilityTimeout": 43201}, "VisibilityTimeout"), ({"MessageRetentionPeriod": 59}, "MessageRetentionPeriod")],
)
def test_a_queue_that_aws_refuses(deployed: DeployedStack, properties: dict[str, Any], message: str) -> None:
    assert deployed.deploy(Queue=queue(**properties)) == "ROLLBACK_COMPLETE"
    assert f"Invalid value for the parameter {message}" in deployed.reasons()[0]


def test_a_secret_is_made_kept_and_deleted(deployed: DeployedStack, of: Client) -> None:
    made = {"PasswordLength": 20, "SecretStringTemplate": '{"user": "models"}', "GenerateStringKey": "token"}

    def secret(**more: Any) -> dict[str, Any]:
        return {"Type": "AWS::SecretsManager::Secret", "Properties": {"GenerateSecretString": made, **more}}

    def value() -> Any:
        return json.loads(
            of("secretsmanager").get_secret_value(SecretId=deployed.physical_id("Secret"))["SecretString"]
        )

    deployed.deploy(Secret=secret())
    first = value()
    assert first["user"] == "models"
    assert len(first["token"]) == 20
    deployed.deploy(Secret=secret(Description="of the models"))
    assert value() == first
    assert deployed.delete() == "DELETE_COMPLETE"
    assert of("secretsmanager").list_secrets()["SecretList"] == []


def test_a_repository_has_its_policies_and_keeps_its_images(deployed: DeployedStack, of: Client) -> None:
    rule = {
        "rulePriority": 1,
        "selection": {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": 5},
        "action": {"type": "expire"},
    }

    def repository(**more: Any) -> dict[str, Any]:
        lifecycle = {"LifecyclePolicyText": json.dumps({"rules": [rule]})}
        return {"Type": "AWS::ECR::Repository", "Properties": {"LifecyclePolicy": lifecycle, **more}}

    outputs = {"Uri": {"Fn::GetAtt": ["Images", "RepositoryUri"]}}
    deployed.deploy(outputs, Images=repository(ImageScanningConfiguration={"ScanOnPush": True}))
    name = deployed.physical_id("Images")
    [found] = of("ecr").describe_repositories()["repositories"]
    assert found["imageScanningConfiguration"] == {"scanOnPush": True}
    assert found["repositoryUri"] == deployed.outputs()["Uri"]
    assert of("ecr").get_lifecycle_policy(repositoryName=name)["lifecyclePolicyText"]
    of("ecr").put_image(repositoryName=name, imageManifest=MANIFEST, imageTag="one")

    deployed.deploy(outputs, Images=repository(ImageTagMutability="IMMUTABLE"))
    [found] = of("ecr").describe_repositories()["repositories"]
    assert (found["repositoryName"], found["imageTagMutability"]) == (name, "IMMUTABLE")
    assert deployed.delete() == "DELETE_FAILED"
    assert "still contains images" in deployed.reasons("DELETE_FAILED")[0]


def test_a_dashboard_changes_in_place(deployed: DeployedStack, of: Client) -> None:
    def dashboard(title: str) -> dict[str, Any]:
        return {"Type": "AWS::CloudWatch::Dashboard", "Properties": {"DashboardBody": json.dumps({"title": title})}}

    deployed.deploy(Dashboard=dashboard("before"))
    name = deployed.physical_id("Dashboard")
    deployed.deploy(Dashboard=dashboard("after"))
    assert deployed.physical_id("Dashboard") == name
    assert "after" in of("cloudwatch").get_dashboard(DashboardName=name)["DashboardBody"]
    deployed.delete()
    assert of("cloudwatch").list_dashboards()["DashboardEntries"] == []


def test_a_web_acl_is_recorded_in_front_of_an_application_load_balancer(
    deployed: DeployedStack, of: Client, subnets: list[str]
) -> None:
    made = of("wafv2").create_web_acl(
        Name="front",
        Scope="REGIONAL",
        DefaultAction={"Allow": {}},
        VisibilityConfig={"SampledRequestsEnabled": False, "CloudWatchMetricsEnabled": False, "MetricName": "front"},
    )
    acl = made["Summary"]["ARN"]
    properties = {"ResourceArn": {"Ref": "Balancer"}, "WebACLArn": acl}
    association = {"Type": "AWS::WAFv2::WebACLAssociation", "Properties": properties}
    deployed.deploy(Balancer=balancer(subnets), Association=association)

    arn = deployed.physical_id("Balancer")
    assert of("wafv2").get_web_acl_for_resource(ResourceArn=arn)["WebACL"]["ARN"] == acl
    deployed.deploy(Balancer=balancer(subnets))
    assert not of("wafv2").get_web_acl_for_resource(ResourceArn=arn).get("WebACL")


def test_a_web_acl_in_front_of_a_network_load_balancer_is_refused(deployed: DeployedStack, subnets: list[str]) -> None:
    properties = {"ResourceArn": {"Ref": "Balancer"}, "WebACLArn": ACL}
    association = {"Type": "AWS::WAFv2::WebACLAssociation", "Properties": properties}
    deployed.deploy(Balancer=balancer(subnets, Type="network"), Association=association)
    assert deployed.reasons() == ["A web ACL can be associated with application load balancers only"]
