"""The clock: requests to AWS are signed with the time, and the steps of several nodes are compared by it.

The Amazon Time Sync Service answers at a link-local address, which needs no way to the internet:
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configure-ec2-ntp.html. Amazon Linux asks it as it comes.
"""

from __future__ import annotations

from gpu_constructs.on_node.actions import Action, Run, Write
from gpu_constructs.on_node.boot import packages
from gpu_constructs.on_node.facts import Facts
from gpu_constructs.on_node.steps import Step

NAME = "clock"
_SERVER = "169.254.169.123"
_TRIES, _MOST_SECONDS_OFF = "60", "0.1"


def step(facts: Facts) -> Step:
    """Return the step that waits until the clock is right, for a minute."""
    wait = Run(
        argv=("chronyc", "-n", "waitsync", _TRIES, _MOST_SECONDS_OFF, "0", "1"),
        timeout_seconds=120,
        remedy=f"the clock was not set from {_SERVER}; see chronyc -n sources, and what the firewall of the image "
        "keeps from link-local addresses",
    )
    return Step(name=NAME, actions=(*(_ubuntu(facts) if facts.ubuntu else ()), wait))


def _ubuntu(facts: Facts) -> tuple[Action, ...]:
    return (
        *packages.install(facts, "chrony", unless=("sh", "-c", "command -v chronyd")),
        Write(
            path="/etc/chrony/sources.d/gpu-node.sources", text=f"server {_SERVER} prefer iburst minpoll 4 maxpoll 4\n"
        ),
        Run(
            argv=("chronyc", "reload", "sources"),
            unless=("sh", "-c", f"chronyc -n sources | grep -qF {_SERVER}"),
            tries=5,
            pause_seconds=1,
            remedy="chronyd does not run: systemctl status chrony",
        ),
    )
