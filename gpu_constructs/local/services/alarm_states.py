"""States of alarms on one metric, by the data that was published; other alarms stay as they were made.

moto keeps alarms and data apart. See
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html#alarm-evaluation
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any
from weakref import WeakKeyDictionary

from moto.cloudwatch.models import Alarm, CloudWatchBackend, MetricDatum, MetricDatumBase
from moto.cloudwatch.responses import CloudWatchResponse

from gpu_constructs.local.clock import clock
from gpu_constructs.local.extend import replace_method

_STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {
    "Average": lambda values: sum(values) / len(values),
    "Maximum": max,
    "Minimum": min,
    "SampleCount": len,
    "Sum": sum,
}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "GreaterThanOrEqualToThreshold": operator.ge,
    "GreaterThanThreshold": operator.gt,
    "LessThanOrEqualToThreshold": operator.le,
    "LessThanThreshold": operator.lt,
}


@dataclass(frozen=True, kw_only=True)
class Question:
    """What an alarm asks of its metric."""

    statistic: str
    comparison: str
    threshold: float
    period_seconds: int
    evaluation_periods: int
    datapoints_to_alarm: int
    treat_missing_data: str


def state(question: Question, points: Sequence[tuple[datetime, float]], now: datetime) -> str | None:
    """Return the state that an alarm has, or None if it keeps the one that it had.

    Args:
        question: What it asks.
        points: The data, each with its time.
        now: When it asks: the newest period ends then.
    """
    period = timedelta(seconds=question.period_seconds)
    breaching: list[bool | None] = []
    for number in range(question.evaluation_periods):
        end = now - number * period
        values = [value for at, value in points if end - period < at <= end]
        breaching.append(_breaches(question, values) if values else _MISSING.get(question.treat_missing_data))
    if breaching.count(True) >= question.datapoints_to_alarm:
        return "ALARM"
    if all(found is None for found in breaching):
        return None if question.treat_missing_data == "ignore" else "INSUFFICIENT_DATA"
    return "OK"


_MISSING = {"breaching": True, "notBreaching": False}


def _breaches(question: Question, values: Sequence[float]) -> bool:
    return _COMPARISONS[question.comparison](_STATISTICS[question.statistic](values), question.threshold)


def install() -> None:
    """Let alarms follow the data, whenever some is published and whenever somebody looks."""
    replace_method(CloudWatchBackend, _put_metric_data, "put_metric_data")
    replace_method(CloudWatchResponse, _describe_alarms, "describe_alarms")


# How far the clock had been moved when a datum came: whoever publishes tells real time.
_ahead: WeakKeyDictionary[MetricDatumBase, timedelta] = WeakKeyDictionary()
_moto_put_metric_data = CloudWatchBackend.put_metric_data
_moto_describe_alarms = CloudWatchResponse.describe_alarms


def _put_metric_data(self: CloudWatchBackend, namespace: str, metric_data: list[dict[str, Any]]) -> None:
    before = len(self.metric_data)
    _moto_put_metric_data(self, namespace, metric_data)
    _ahead.update(dict.fromkeys(self.metric_data[before:], clock.ahead))
    _evaluate(self, clock.now())


def _describe_alarms(self: CloudWatchResponse) -> Any:
    _evaluate(self.cloudwatch_backend, clock.now())
    return _moto_describe_alarms(self)


def _evaluate(backend: CloudWatchBackend, now: datetime) -> None:
    for alarm in backend.alarms.values():
        if alarm.rule or alarm.metric_data_queries or alarm.statistic not in _STATISTICS:
            continue
        found = state(_question(alarm), _points(backend, alarm), now)
        if found is not None and found != alarm.state_value:
            alarm.update_state(f"Threshold Crossed: the data of {alarm.metric_name} say so", "{}", found)


def _question(alarm: Alarm) -> Question:
    return Question(
        statistic=alarm.statistic,
        comparison=alarm.comparison_operator,
        threshold=alarm.threshold,
        period_seconds=alarm.period,
        evaluation_periods=alarm.evaluation_periods,
        datapoints_to_alarm=alarm.datapoints_to_alarm or alarm.evaluation_periods,
        treat_missing_data=alarm.treat_missing_data or "missing",
    )


def _points(backend: CloudWatchBackend, alarm: Alarm) -> list[tuple[datetime, float]]:
    """A series is a metric with just these dimensions: one with more of them is another."""
    wanted = {(one.name, one.value) for one in alarm.dimensions}
    return [
        (_in_utc(one.timestamp) + _ahead.get(one, timedelta()), one.value)
        for one in backend.metric_data
        if isinstance(one, MetricDatum)
        and (one.namespace, one.name) == (alarm.namespace, alarm.metric_name)
        and {(dimension.name, dimension.value) for dimension in one.dimensions} == wanted
    ]


def _in_utc(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=timezone.utc)
