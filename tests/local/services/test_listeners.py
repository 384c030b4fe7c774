"""Listeners and rules, deployed as stacks: certificates, weights, conditions, priorities, and what AWS refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.local.services.load_balanced import FIXED, TO_HTTPS, balancer, forward, listener, rule, target_group
from tests.local.services.stack import DeployedStack

if TYPE_CHECKING:
    from mypy_boto3_ec2.client import EC2Client
    from mypy_boto3_elbv2.client import ElasticLoadBalancingv2Client

POLICY = "ELBSecurityPolicy-TLS13-1-2-2021-06"
CERTIFICATE = {
    "Type": "AWS::CertificateManager::Certificate",
    "Properties": {"DomainName": "models.example.com", "ValidationMethod": "DNS"},
}
SECURE = {"Port": 443, "Protocol": "HTTPS", "SslPolicy": POLICY, "Certificates": [{"CertificateArn": {"Ref": "Cert"}}]}
PATH = {"Field": "path-pattern", "PathPatternConfig": {"Values": ["/v1/*"]}}
HEADER = {"Field": "http-header", "HttpHeaderConfig": {"HttpHeaderName": "x-model", "Values": ["llama*"]}}
SOURCE = {"Field": "source-ip", "SourceIpConfig": {"Values": ["10.0.0.0/8"]}}


@pytest.fixture
def front(ec2: EC2Client, subnets: list[str]) -> dict[str, Any]:
    """A load balancer and two target groups."""
    vpc = ec2.describe_subnets(SubnetIds=subnets)["Subnets"][0]["VpcId"]
    return {"Balancer": balancer(subnets), "Blue": target_group(vpc), "Green": target_group(vpc)}


def only_listener(client: ElasticLoadBalancingv2Client, stack: DeployedStack) -> Any:
    [found] = client.describe_listeners(ListenerArns=[stack.physical_id("Listener")])["Listeners"]
    return found


def test_https_has_its_certificate_and_its_policy_and_http_leads_there(
    deployed: DeployedStack,
    load_balancing: ElasticLoadBalancingv2Client,
    acm: Any,
    front: dict[str, Any],
) -> None:
    status = deployed.deploy(
        {"Arn": {"Fn::GetAtt": ["Listener", "ListenerArn"]}},
        **front,
        Cert=CERTIFICATE,
        Listener=listener(forward(("Blue", 1)), **SECURE),
        Plain=listener(TO_HTTPS),
    )

    assert status == "CREATE_COMPLETE"
    found, certificate = only_listener(load_balancing, deployed), deployed.physical_id("Cert")
    assert (found["Port"], found["Protocol"], found["SslPolicy"]) == (443, "HTTPS", POLICY)
    assert found["Certificates"] == [{"CertificateArn": certificate}]
    assert deployed.outputs() == {"Arn": found["ListenerArn"]}
    assert acm.describe_certificate(CertificateArn=certificate)["Certificate"]["Status"] == "ISSUED"
    [plain] = load_balancing.describe_listeners(ListenerArns=[deployed.physical_id("Plain")])["Listeners"]
    assert "SslPolicy" not in plain
    assert plain["DefaultActions"][0]["RedirectConfig"] == {
        "Protocol": "HTTPS",
        "Port": "443",
        "Host": "#{host}",
        "Path": "/#{path}",
        "Query": "#{query}",
        "StatusCode": "HTTP_301",
    }


def test_weights_change_in_place(
    deployed: DeployedStack, load_balancing: ElasticLoadBalancingv2Client, front: dict[str, Any]
) -> None:
    deployed.deploy(**front, Listener=listener(forward(("Blue", 100), ("Green", 0))))
    arn = deployed.physical_id("Listener")
    deployed.deploy(**front, Listener=listener(forward(("Blue", 90), ("Green", 10)), Port=8080))

    assert deployed.physical_id("Listener") == arn
    found = only_listener(load_balancing, deployed)
    assert found["Port"] == 8080
    config = found["DefaultActions"][0]["ForwardConfig"]
    assert [group["Weight"] for group in config["TargetGroups"]] == [90, 10]
    assert config["TargetGroupStickinessConfig"] == {"Enabled": False}
    green = load_balancing.describe_target_groups(TargetGroupArns=[deployed.physical_id("Green")])["TargetGroups"][0]
    assert green["LoadBalancerArns"] == [deployed.physical_id("Balancer")]


def test_rules_come_in_order_of_their_priority_with_their_conditions(
    deployed: DeployedStack, load_balancing: ElasticLoadBalancingv2Client, front: dict[str, Any]
) -> None:
    resources = {**front, "Listener": listener(FIXED)}
    deployed.deploy(
        {"Rule": {"Fn::GetAtt": ["Canary", "RuleArn"]}},
        **resources,
        Api=rule(20, [PATH], forward(("Blue", 9), ("Green", 1))),
        Canary=rule(10, [HEADER, SOURCE], forward(("Green", 1))),
    )
    canary = deployed.physical_id("Canary")
    assert deployed.outputs() == {"Rule": canary}

    rules = load_balancing.describe_rules(ListenerArn=deployed.physical_id("Listener"))["Rules"]
    assert [found["Priority"] for found in rules] == ["10", "20", "default"]
    assert rules[0]["Conditions"] == [HEADER, SOURCE]
    assert rules[1]["Conditions"] == [PATH]

    deployed.deploy(
        **resources,
        Api=rule(20, [PATH], FIXED),
        Canary=rule(30, [HEADER], forward(("Green", 1))),
    )
    rules = load_balancing.describe_rules(ListenerArn=deployed.physical_id("Listener"))["Rules"]
    assert [found["Priority"] for found in rules] == ["20", "30", "default"]
    assert rules[0]["Actions"][0]["Type"] == "fixed-response"
    assert (rules[1]["RuleArn"], rules[1]["Conditions"]) == (canary, [HEADER])


def test_a_rule_that_is_gone_from_the_template_is_gone(
    deployed: DeployedStack, load_balancing: ElasticLoadBalancingv2Client, front: dict[str, Any]
) -> None:
    deployed.deploy(**front, Listener=listener(FIXED), Api=rule(1, [PATH], forward(("Blue", 1))))
    deployed.deploy(**front, Listener=listener(FIXED))
    rules = load_balancing.describe_rules(ListenerArn=deployed.physical_id("Listener"))["Rules"]
    assert [found["Priority"] for found in rules] == ["default"]


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"Port": 443, "Protocol": "HTTPS"}, "must have exactly one certificate, got 0"),
        (
            {"Certificates": [{"CertificateArn": "arn:aws:acm:us-east-1:1:certificate/a"}]},
            "cannot specify a certificate",
        ),
        (
            {"Protocol": "HTTPS", "Certificates": [{"CertificateArn": "arn:aws:acm:eu-west-1:1:certificate/a"}]},
            "not found",
        ),
        ({**SECURE, "SslPolicy": "TLS13"}, "SSL policy 'TLS13' not found"),
        ({"Protocol": "TCP"}, "TCP"),
    ],
)
def test_a_listener_that_aws_refuses(
    deployed: DeployedStack, front: dict[str, Any], properties: dict[str, Any], message: str
) -> None:
    status = deployed.deploy(**front, Cert=CERTIFICATE, Listener=listener(FIXED, **properties))
    assert status == "ROLLBACK_COMPLETE"
    assert message in deployed.reasons()[0]


def test_a_certificate_of_elsewhere_is_taken_to_be_there(deployed: DeployedStack, front: dict[str, Any]) -> None:
    elsewhere = [{"CertificateArn": "arn:aws:acm:us-east-1:210987654321:certificate/elsewhere"}]
    assert (
        deployed.deploy(**front, Listener=listener(FIXED, **{**SECURE, "Certificates": elsewhere})) == "CREATE_COMPLETE"
    )


def test_a_port_is_taken_once(deployed: DeployedStack, front: dict[str, Any]) -> None:
    deployed.deploy(**front, Listener=listener(FIXED), Second=listener(FIXED))
    assert deployed.reasons()[0] == "A listener with the specified port already exists."


@pytest.mark.parametrize(
    ("priority", "conditions", "actions", "message"),
    [
        (0, [PATH], FIXED, "'0' must be between '1-50000' inclusive"),
        (1, [{"Field": "source-ip", "SourceIpConfig": {"Values": ["10.0.0.1/8"]}}], FIXED, "not a valid CIDR block"),
        (1, [{"Field": "cookie"}], FIXED, "cookie"),
        (1, [{**PATH, "PathPatternConfig": {"Values": list("abcdef")}}], FIXED, "only have '5' condition values"),
        (1, [PATH], forward(("Blue", 1000), ("Green", 1)), "weight '1000' must be between '0-999'"),
        (1, [PATH], [{"Type": "redirect", "RedirectConfig": {"StatusCode": "HTTP_301"}}], "creates a loop"),
    ],
)
def test_a_rule_that_aws_refuses(
    deployed: DeployedStack,
    front: dict[str, Any],
    priority: int,
    conditions: list[dict[str, Any]],
    actions: list[dict[str, Any]],
    message: str,
) -> None:
    status = deployed.deploy(**front, Listener=listener(FIXED), Rule=rule(priority, conditions, actions))
    assert status == "ROLLBACK_COMPLETE"
    assert message in deployed.reasons()[0]


def test_two_rules_of_one_priority_are_refused(deployed: DeployedStack, front: dict[str, Any]) -> None:
    deployed.deploy(**front, Listener=listener(FIXED), One=rule(1, [PATH], FIXED), Two=rule(1, [HEADER], FIXED))
    assert len(deployed.reasons()) == 1
