"""States of alarms by the data that was published: the rule, and the alarm of a stack."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from gpu_constructs.local.services.alarm_states import Question, state
from tests.local.conftest import StackUnderTest

pytestmark = pytest.mark.allow_hosts(["127.0.0.1", "::1"])

NOW = datetime(2026, 12, 1, tzinfo=timezone.utc)
QUESTION = Question(
    statistic="Maximum",
    comparison="GreaterThanOrEqualToThreshold",
    threshold=1,
    period_seconds=60,
    evaluation_periods=3,
    datapoints_to_alarm=2,
    treat_missing_data="missing",
)


def _points(*values: float | None) -> list[tuple[datetime, float]]:
    """One a minute, the newest first."""
    ages = enumerate(values)
    return [(NOW - timedelta(seconds=60 * age + 1), value) for age, value in ages if value is not None]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((1, 1, 0), "ALARM"),
        ((1, 0, 0), "OK"),
        ((1, None, 1), "ALARM"),
        ((None, None, None), "INSUFFICIENT_DATA"),
        ((None, None, None, 1, 1, 1), "INSUFFICIENT_DATA"),
    ],
)
def test_state(values: tuple[float | None, ...], expected: str) -> None:
    assert state(QUESTION, _points(*values), NOW) == expected


@pytest.mark.parametrize(
    ("treatment", "expected"),
    [("missing", "OK"), ("breaching", "ALARM"), ("notBreaching", "OK"), ("ignore", "OK")],
)
def test_missing_data_is_treated_as_asked(treatment: str, expected: str) -> None:
    assert state(replace(QUESTION, treat_missing_data=treatment), _points(1, None, None), NOW) == expected


def test_alarm_that_ignores_missing_data_keeps_its_state() -> None:
    assert state(replace(QUESTION, treat_missing_data="ignore"), [], NOW) is None


def test_alarm_of_a_stack_follows_its_series_and_no_other(a_stack: StackUnderTest) -> None:
    alarm = {
        "Namespace": "Mine",
        "MetricName": "Broken",
        "Dimensions": [{"Name": "Group", "Value": a_stack.name}],
        "Statistic": "Maximum",
        "Period": 60,
        "EvaluationPeriods": 1,
        "Threshold": 1,
        "ComparisonOperator": "GreaterThanOrEqualToThreshold",
        "TreatMissingData": "ignore",
    }
    a_stack.create({"Alarm": {"Type": "AWS::CloudWatch::Alarm", "Properties": alarm}})
    cloudwatch = a_stack.aws.client("cloudwatch")

    def publish(*dimensions: dict[str, str]) -> str:
        datum = {"MetricName": "Broken", "Value": 1, "Dimensions": list(dimensions)}
        cloudwatch.put_metric_data(Namespace="Mine", MetricData=[datum])
        return state_now()

    def state_now() -> str:
        found = cloudwatch.describe_alarms(AlarmNames=[a_stack.physical_id("Alarm")])["MetricAlarms"]
        value: str = found[0]["StateValue"]
        return value

    mine = {"Name": "Group", "Value": a_stack.name}
    assert publish({"Name": "Group", "Value": "another"}) == "OK"
    assert publish(mine, {"Name": "InstanceId", "Value": "i-1"}) == "OK"  # a series of its own
    assert publish(mine) == "ALARM"
    a_stack.aws.advance_clock(3600)
    assert state_now() == "ALARM"  # nobody said that it is over
