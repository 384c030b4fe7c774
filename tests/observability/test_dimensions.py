"""The series that are published, against the sources from which their names are."""

from __future__ import annotations

from gpu_constructs.observability import dimensions
from gpu_constructs.observability.dimensions import Series

# The 17 measurements of the agent's registered_metrics.go, which Linux accepts.
_MEASUREMENTS = {
    "utilization_gpu",
    "utilization_memory",
    "temperature_gpu",
    "power_draw",
    "fan_speed",
    "memory_total",
    "memory_used",
    "memory_free",
    "pcie_link_gen_current",
    "pcie_link_width_current",
    "encoder_stats_session_count",
    "encoder_stats_average_fps",
    "encoder_stats_average_latency",
    "clocks_current_graphics",
    "clocks_current_sm",
    "clocks_current_memory",
    "clocks_current_video",
}


def _all() -> list[Series]:
    return [value for value in vars(dimensions).values() if isinstance(value, Series)]


def test_series_of_gpus_are_measurements_of_the_agent() -> None:
    found = [series.name for series in _all() if series.namespace == "CWAgent"]
    assert found
    assert {name.removeprefix("nvidia_smi_") for name in found} <= _MEASUREMENTS
    assert all(name.startswith("nvidia_smi_") for name in found)


def test_dimensions_must_be_all_that_are_published_and_no_more() -> None:
    series = dimensions.GPU_UTILIZATION
    assert series.has(("AutoScalingGroupName",))
    assert not series.has(())
    assert not series.has(("AutoScalingGroupName", "host"))
    assert dimensions.REQUESTS.has(("LoadBalancer", "TargetGroup"))
