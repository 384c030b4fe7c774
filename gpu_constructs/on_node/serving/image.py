"""The image of the server: pulled once, with a login of its own where its registry asks for one.

A node that boots again, or that comes out of the warm pool, has it already: then nothing is asked of anybody.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gpu_constructs.on_node import aws
from gpu_constructs.on_node.actions import ActionError, last_line, tail
from gpu_constructs.on_node.config import Serving
from gpu_constructs.on_node.facts import Facts
from gpu_constructs.on_node.host import Finished, Host
from gpu_constructs.on_node.serving import registry
from gpu_constructs.on_node.serving.budget import Budget
from gpu_constructs.on_node.serving.registry import Login
from gpu_constructs.on_node.steps import Step

NAME: Final = "image"
LOGIN_FOLDER: Final = "/run/gpu-node/docker"
"""Where Docker keeps the login while it pulls: in memory, and for root alone."""
_TRIES, _PAUSE_SECONDS = 5, 10
_LOGIN = 'docker --config "$1" login --username "$2" --password-stdin "$3" <"$1/password"'


@dataclass(frozen=True)
class _Refusal:
    """What Docker says when a pull fails.

    Args:
        said: A regular expression of it.
        remedy: What to do.
        final: Whether the next try would fail alike.
    """

    said: str
    remedy: str
    final: bool = True


_REFUSALS = (
    _Refusal(
        "no space left on device",
        "the volume that Docker writes to is too small for the image: give the node a "
        "larger root_volume, or a data_volume",
    ),
    _Refusal(
        "no matching manifest for|does not match the (specified|detected host) platform",
        "the image is not built for the architecture of the instance type",
    ),
    _Refusal(
        "no basic auth credentials|unauthorized|authentication required|denied",
        "the role, or credentials_secret, must be allowed to pull it; an image that does not exist looks the same",
    ),
    _Refusal("manifest unknown|name unknown|not found", "there is no such image, or no such tag or digest of it"),
    _Refusal(
        "toomanyrequests",
        "the registry limits anonymous pulls: give credentials_secret, or copy the image to ECR",
        final=False,
    ),
    _Refusal(
        "timeout|no route to host|no such host|connection refused|network is unreachable",
        "the node needs a way to the registry",
        final=False,
    ),
)


@dataclass(frozen=True, kw_only=True)
class Pull:
    """Pull an image, unless it is there.

    Args:
        image: The image.
        region: The Region of the node.
        secret: The secret with the login; None for none.
        budget: The time that there is.
        client: Makes a boto3 client of a service in a Region.
    """

    image: str
    region: str
    secret: str | None
    budget: Budget = field(compare=False, repr=False)
    client: Callable[[str, str], Any] = field(default=aws.client, compare=False, repr=False)

    def perform(self, host: Host) -> None:
        """Pull it, several times where the registry does not answer."""
        if host.run(("docker", "image", "inspect", self.image)).code == 0:
            return
        for left in reversed(range(_TRIES)):
            done = self._pull(host)
            if done.code == 0:
                return
            refusal = next((one for one in _REFUSALS if re.search(one.said, done.output, re.IGNORECASE)), None)
            if not left or (refusal and refusal.final):
                break
            host.wait(_PAUSE_SECONDS)
        remedy = f"; {refusal.remedy}" if refusal else ""
        raise ActionError(f"{self.image} cannot be pulled: {last_line(done.output)}{remedy}", tail(done.output))

    def _pull(self, host: Host) -> Finished:
        patience = replace(aws.PATIENT, wait=host.wait)
        login = registry.login(
            self.image, secret=self.secret, region=self.region, client=self.client, patience=patience
        )
        # Quiet: each layer would say several lines.
        pull = ("pull", "--quiet", self.image)
        seconds = self.budget.need(host, f"{self.image} was not pulled")
        if login is None:
            return host.run(("docker", *pull), timeout_seconds=seconds)
        with _logged_in(host, login) as done:
            if done.code:
                return done
            return host.run(("docker", "--config", f"{{root}}{LOGIN_FOLDER}", *pull), timeout_seconds=seconds)

    def __str__(self) -> str:
        login = "ECR" if registry.ecr_region(registry.host_of(self.image)) else self.secret
        return f"pull {self.image}, unless it is there" + (f", with the login of {login}" if login else "")


@contextmanager
def _logged_in(host: Host, login: Login) -> Iterator[Finished]:
    """Log in; nothing of it is left behind, not even by a boot that was killed, for the folder is made anew."""
    folder = host.path(LOGIN_FOLDER)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    try:
        password = folder / "password"
        password.touch(mode=0o600)
        password.write_text(login.password)
        words = ("sh", "-c", _LOGIN, "sh", f"{{root}}{LOGIN_FOLDER}", login.username, login.host)
        yield host.run(words, timeout_seconds=60)
    finally:
        shutil.rmtree(folder)


def step(serving: Serving, facts: Facts, budget: Budget, after: tuple[str, ...]) -> Step:
    """Return the step that has the image.

    Args:
        serving: The server.
        facts: The machine.
        budget: The time that there is.
        after: The steps after which Docker runs and the clock is right.
    """
    pull = Pull(image=serving.image, region=facts.region, secret=serving.credentials_secret, budget=budget)
    return Step(name=NAME, actions=(pull,), after=after)
