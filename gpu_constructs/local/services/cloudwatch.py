"""CloudWatch of the local AWS: alarms and dashboards from CloudFormation."""

from __future__ import annotations

import json
from typing import Any

from moto.cloudwatch.models import Dimension, Metric, MetricDataQuery, MetricStat, cloudwatch_backends

from gpu_constructs.local.services import alarm_states
from gpu_constructs.local.services.cloudformation import LocalResource, whole_number


def install() -> None:
    """Let alarms follow their data; the CloudFormation types are found by their names."""
    alarm_states.install()


class _Alarm(LocalResource):
    """What metric alarms and composite alarms share."""

    def create(self, name: str, properties: dict[str, Any]) -> None:
        self.physical_resource_id = properties.get("AlarmName", name)
        self._put(properties)

    def update(self, properties: dict[str, Any]) -> None:
        """In place: PutMetricAlarm replaces the alarm of the same name."""
        self._put(properties)

    def delete(self, *_: str) -> None:
        self._backend().delete_alarms([self.physical_resource_id])

    def attributes(self) -> dict[str, Any]:
        return {"Arn": self.alarm.alarm_arn}

    def _put(self, properties: dict[str, Any]) -> None:
        self.alarm = self._backend().put_metric_alarm(
            name=self.physical_resource_id,
            namespace=properties.get("Namespace"),
            metric_name=properties.get("MetricName"),
            comparison_operator=properties.get("ComparisonOperator"),
            evaluation_periods=whole_number(properties.get("EvaluationPeriods")),
            datapoints_to_alarm=whole_number(properties.get("DatapointsToAlarm")),
            period=whole_number(properties.get("Period")),
            threshold=None if properties.get("Threshold") is None else float(properties["Threshold"]),
            statistic=properties.get("Statistic"),
            extended_statistic=properties.get("ExtendedStatistic"),
            description=properties.get("AlarmDescription"),
            dimensions=properties.get("Dimensions", []),
            alarm_actions=properties.get("AlarmActions", []),
            ok_actions=properties.get("OKActions"),
            insufficient_data_actions=properties.get("InsufficientDataActions"),
            unit=properties.get("Unit"),
            actions_enabled=properties.get("ActionsEnabled", True),
            treat_missing_data=properties.get("TreatMissingData"),
            evaluate_low_sample_count_percentile=properties.get("EvaluateLowSampleCountPercentile"),
            threshold_metric_id=properties.get("ThresholdMetricId"),
            metric_data_queries=[_query(q) for q in properties.get("Metrics", [])] or None,
            rule=properties.get("AlarmRule"),
            tags=properties.get("Tags"),
        )

    def _backend(self) -> Any:
        return cloudwatch_backends[self.account_id][self.region]


class AlarmResource(_Alarm):
    """AWS::CloudWatch::Alarm."""

    TYPE = "AWS::CloudWatch::Alarm"


class CompositeAlarmResource(_Alarm):
    """AWS::CloudWatch::CompositeAlarm."""

    TYPE = "AWS::CloudWatch::CompositeAlarm"


class DashboardResource(LocalResource):
    """AWS::CloudWatch::Dashboard; moto gives one without a name another at each change."""

    TYPE = "AWS::CloudWatch::Dashboard"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        self.physical_resource_id = properties.get("DashboardName") or name
        self.update(properties)

    def update(self, properties: dict[str, Any]) -> None:
        """In place, but for its name.

        Raises:
            ValueError: The body is not JSON.
        """
        body = properties["DashboardBody"]
        json.loads(body)
        name = properties.get("DashboardName") or self.physical_resource_id
        if name != self.physical_resource_id:
            self.delete()
        self.physical_resource_id = name
        self._backend().put_dashboard(name=name, body=body)

    def delete(self, *_: str) -> None:
        self._backend().delete_dashboards([self.physical_resource_id])

    def _backend(self) -> Any:
        return cloudwatch_backends[self.account_id][self.region]


def _query(query: dict[str, Any]) -> MetricDataQuery:
    """One of the `Metrics` of a metric-math alarm, as moto's own PutMetricAlarm makes it."""
    stat = query.get("MetricStat")
    make: Any = MetricDataQuery  # annotated as text, although moto passes on what the request holds
    made: MetricDataQuery = make(
        query_id=query["Id"],
        label=query.get("Label", ""),
        period=query.get("Period"),
        return_data=query.get("ReturnData", True),
        expression=query.get("Expression"),
        metric_stat=_stat(stat) if stat else None,
    )
    return made


def _stat(stat: dict[str, Any]) -> MetricStat:
    metric = stat["Metric"]
    dimensions = [Dimension(d["Name"], d["Value"]) for d in metric.get("Dimensions", [])]
    make: Any = MetricStat
    made: MetricStat = make(
        metric=Metric(metric_name=metric["MetricName"], namespace=metric["Namespace"], dimensions=dimensions),
        period=stat["Period"],
        stat=stat["Stat"],
        unit=stat.get("Unit"),
    )
    return made
