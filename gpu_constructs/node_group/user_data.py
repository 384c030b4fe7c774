"""From a `Bootstrap` to CDK's user data."""

from __future__ import annotations

import jsii
from aws_cdk import aws_ec2 as ec2
from constructs import Construct, IValidation

from gpu_constructs.node_group import user_data_rules
from gpu_constructs.node_group.bootstrap import Bootstrap


def as_user_data(bootstrap: Bootstrap) -> ec2.UserData:
    """Return what CDK takes: never nothing, because whether that is in the template depends on a feature flag."""
    wanted = bootstrap.user_data
    if wanted is None:
        return ec2.UserData.for_linux()
    return ec2.UserData.custom(wanted) if isinstance(wanted, str) else wanted


def measure_at_synth(scope: Construct, commands: ec2.UserData) -> None:
    """Refuse user data that is too long when the template is written: commands may be added until then."""
    scope.node.add_validation(_Length(commands))


@jsii.implements(IValidation)
class _Length:
    def __init__(self, commands: ec2.UserData) -> None:
        self._commands = commands

    def validate(self) -> list[str]:
        return [str(problem) for problem in user_data_rules.problems(self._commands.render())]
