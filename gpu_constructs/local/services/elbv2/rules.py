"""AWS::ElasticLoadBalancingV2::ListenerRule: conditions and actions, and its priority changed in place.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-elasticloadbalancingv2-listenerrule.html
"""

from __future__ import annotations

from typing import Any

from moto.elbv2.exceptions import PriorityInUseError
from moto.elbv2.models import ELBv2Backend, FakeAction, elbv2_backends

from gpu_constructs.local.extend import replace_method
from gpu_constructs.local.services.cloudformation import LocalResource
from gpu_constructs.local.services.elbv2.actions import completed, completed_condition
from gpu_constructs.local.services.elbv2.checks import check_rule

_moto_create = ELBv2Backend.create_rule
_moto_describe = ELBv2Backend.describe_rules


def install() -> None:
    """Put everything in place; may be called again."""
    replace_method(ELBv2Backend, _create, "create_rule")
    replace_method(ELBv2Backend, _describe, "describe_rules")


def _create(
    self: ELBv2Backend, listener_arn: str, conditions: list[dict[str, Any]], priority: Any, *args: Any, **more: Any
) -> Any:
    """Wraps moto's, which takes any priority and any range of addresses."""
    check_rule(int(priority), conditions)
    return _moto_create(self, listener_arn, conditions, int(priority), *args, **more)


def _describe(self: ELBv2Backend, listener_arn: str | None, rule_arns: list[str] | None) -> list[Any]:
    """Wraps moto's: in order of priority, the default rule last."""
    rules = _moto_describe(self, listener_arn, rule_arns)
    return sorted(rules, key=lambda rule: (rule.is_default, 0 if rule.is_default else int(rule.priority)))


class ListenerRuleResource(LocalResource):
    """A rule of a listener."""

    TYPE = "AWS::ElasticLoadBalancingV2::ListenerRule"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        del name
        self.properties = properties
        self.rule = self._backend().create_rule(
            properties["ListenerArn"],
            _conditions(properties),
            int(properties["Priority"]),
            completed(properties["Actions"]),
        )
        self.physical_resource_id = self.rule.arn

    def update(self, properties: dict[str, Any]) -> None:
        """In place, but for a rule of another listener."""
        if properties["ListenerArn"] != self.properties["ListenerArn"]:
            self.delete()
            self.create("", properties)
            return
        backend, conditions, priority = self._backend(), _conditions(properties), int(properties["Priority"])
        check_rule(priority, conditions)
        backend._validate_conditions(conditions)
        actions = [FakeAction(action) for action in completed(properties["Actions"])]
        backend._validate_actions(actions)
        [listener] = backend.describe_listeners(None, [properties["ListenerArn"]])
        if any(other.priority == priority and other.arn != self.rule.arn for other in listener.rules.values()):
            raise PriorityInUseError
        self.rule.conditions, self.rule.actions, self.rule.priority = conditions, actions, priority
        self.properties = properties

    def delete(self, *_: str) -> None:
        self._backend().delete_rule(self.physical_resource_id)

    def attributes(self) -> dict[str, Any]:
        return {"RuleArn": self.rule.arn, "IsDefault": False}

    def _backend(self) -> ELBv2Backend:
        return elbv2_backends[self.account_id][self.region]


def _conditions(properties: dict[str, Any]) -> list[dict[str, Any]]:
    return [completed_condition(condition) for condition in properties.get("Conditions") or []]
