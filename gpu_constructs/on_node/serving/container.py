"""The container of the server: whether it runs, and what it said where it does not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from gpu_constructs.on_node.actions import ActionError
from gpu_constructs.on_node.host import Host

CONTAINER: Final = "gpu-node-server"
SPECIFICATION: Final = "gpu-node.specification"
"""The label with what the container was made from."""
_LOG_LINES = 40
_KILLED = 137


@dataclass(frozen=True)
class Container:
    """What Docker says of the container.

    Args:
        status: "created", "running", "paused", "restarting", "exited" or "dead".
        exit_code: The code that it ended with, while it does not run.
        out_of_memory: Whether the kernel ended it for want of memory.
        restarts: How often Docker has started it again.
        specification: What it was made from.
    """

    status: str
    exit_code: int
    out_of_memory: bool
    restarts: int
    specification: str | None

    @property
    def runs(self) -> bool:
        """Whether it has run ever since it was started."""
        return self.status == "running" and not self.restarts


def find(host: Host) -> Container | None:
    """Return the container; None if there is none."""
    done = host.run(("docker", "container", "inspect", CONTAINER), timeout_seconds=60)
    if done.code:
        return None
    # Docker may warn of something before.
    (one,) = json.loads(done.output[done.output.index("[") :])
    state = one["State"]
    return Container(
        status=state["Status"],
        exit_code=state["ExitCode"],
        out_of_memory=state.get("OOMKilled", False),
        restarts=one.get("RestartCount", 0),
        specification=(one["Config"].get("Labels") or {}).get(SPECIFICATION),
    )


def check(host: Host) -> None:
    """See that the container runs.

    Raises:
        ActionError: If it has ended, with its exit code and the end of its log: Docker starts it again and again, and
            who waits would learn nothing.
    """
    found = find(host)
    if found is None:
        raise ActionError(f"there is no container {CONTAINER} any more")
    if found.runs:
        return
    log = logs(host)
    raise ActionError(f"the server {_ended(found, host)}; see its log: {_shown(log)}", log)


def logs(host: Host) -> str:
    """Return the end of what the server has said."""
    return host.run(("docker", "logs", "--tail", str(_LOG_LINES), CONTAINER), timeout_seconds=60).output.strip()


def _ended(found: Container, host: Host) -> str:
    if found.status not in {"running", "restarting", "exited", "dead"}:
        return f"does not run, it is {found.status}"
    code = _last_code(host) if found.status == "running" else found.exit_code
    said = "has ended" if code is None else f"has ended with code {code}"
    if found.out_of_memory:
        return f"{said}: the instance has too little memory for it"
    return f"{said} (killed; by the kernel, if memory was short: see dmesg)" if code == _KILLED else said


def _last_code(host: Host) -> int | None:
    """The code of a container that Docker has started again meanwhile: only its events know that."""
    host.wait(1)  # events are asked for by whole seconds
    kinds = ("--filter", f"container={CONTAINER}", "--filter", "event=die")
    done = host.run(("docker", "events", "--since", "24h", "--until", "0s", *kinds, "--format", "{{json .}}"))
    lines = [line for line in done.output.splitlines() if line.startswith("{")] if not done.code else []
    event: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    code = event.get("Actor", {}).get("Attributes", {}).get("exitCode")
    return int(code) if code is not None else None


def _shown(log: str) -> str:
    return next((line.strip() for line in reversed(log.splitlines()) if line.strip()), "it is empty")
