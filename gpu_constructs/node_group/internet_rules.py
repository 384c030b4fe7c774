"""Whether nodes can fetch what they need when they start. Imports no aws_cdk."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_constructs.checks import Problem


def problems(hosts: Sequence[str], *, isolated: bool, remedy: str) -> list[Problem]:
    """Say that nodes fetch from hosts to which there is no way; nothing if there is one, or they fetch nothing.

    Args:
        hosts: The hosts in the internet.
        isolated: Whether CDK takes their subnets for isolated: without a route to the internet.
        remedy: How nodes get along without these hosts.
    """
    if not hosts or not isolated:
        return []
    return [
        Problem(
            what="vpc_subnets",
            given=f"isolated subnets, for nodes that fetch from {', '.join(hosts)} when they boot",
            allowed="subnets with a way to the internet",
            remedy=f"{remedy}; where isolated subnets do have a way out that CDK does not know, such as a transit "
            "gateway, import them as private ones (private_subnet_ids)",
            prevents="nodes that cannot boot, and are replaced",
        )
    ]
