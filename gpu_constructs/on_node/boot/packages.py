"""Packages of the operating system: what installs them, and one package manager at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gpu_constructs.on_node.actions import Run
from gpu_constructs.on_node.facts import Facts
from gpu_constructs.on_node.steps import Step

TRIES = 5
PAUSE_SECONDS = 30
_INSTALL_SECONDS = 1800
_FETCH = 'curl -fsSL --retry 3 -o "$2.new" "$1" && mv "$2.new" "$2"'  # whole, or not at all
# unattended-upgrades begins when the machine does; https://manpages.ubuntu.com/manpages/noble/man5/apt.conf.5.html
_APT = ("apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=300")


def install(
    facts: Facts, *names: str, unless: tuple[str, ...] = (), options: tuple[str, ...] = (), remedy: str = ""
) -> tuple[Run, ...]:
    """Return what installs packages, several times: mirrors fail, and so does a lock that another one holds.

    Args:
        facts: The machine.
        names: Their names, with versions as the package manager writes them.
        unless: A command; where it succeeds, nothing is installed. By default that the packages are there.
        options: Of the package manager's `install`.
        remedy: What to do where it fails. By default how the node gets to where the packages are.
    """
    if not facts.ubuntu:
        there = unless or ("rpm", "-q", *names)
        return (_run(("dnf", "install", "-y", *options, *names), there, remedy or _way_to("the repository in S3")),)
    there = unless or ("dpkg", "-s", *(name.partition("=")[0] for name in names))
    return (
        # What a boot that was killed had begun to install.
        _run(("dpkg", "--configure", "-a"), there, remedy),
        _run((*_APT, "update"), there, remedy),
        _run((*_APT, "--no-install-recommends", *options, "install", *names), there, remedy or _way_to("its mirrors")),
    )


def install_deb(url: str, path: str, unless: tuple[str, ...]) -> tuple[Run, ...]:
    """Return what fetches a package that is in no repository to a path, and installs it."""
    place = f"{{root}}{path}"
    script = f'mkdir -p "$(dirname "$2")" && {_FETCH}'
    return (
        _run(("sh", "-c", script, "sh", url, place), unless, _way_to(url)),
        _run((*_APT, "install", place), unless, "see dpkg --info on it"),
    )


def add_apt_repository(name: str, key_url: str, source: str, unless: tuple[str, ...]) -> Run:
    """Return what adds a repository to Ubuntu: its key, then the line that names it.

    Args:
        name: Of the two files.
        key_url: Where its key is, ASCII-armoured.
        source: Where it is, its suite and its components.
        unless: As in `install`: what is on the image already needs no repository, nor a way to it.
    """
    key = f"/usr/share/keyrings/{name}.asc"
    line = f"deb [signed-by={key}] {source}"
    script = f'{_FETCH} && echo "$3" >"$4"'
    files = (f"{{root}}{key}", line, f"{{root}}/etc/apt/sources.list.d/{name}.list")
    return _run(("sh", "-c", script, "sh", key_url, *files), unless, _way_to(key_url))


def add_dnf_repository(url: str) -> Run:
    """Return what adds a repository to Amazon Linux."""
    name = url.rpartition("/")[2]
    return Run(
        argv=("dnf", "config-manager", "--add-repo", url),
        unless=("test", "-s", f"{{root}}/etc/yum.repos.d/{name}"),
        tries=TRIES,
        pause_seconds=PAUSE_SECONDS,
        remedy=_way_to(url),
    )


def in_turn(steps: Iterable[Step], after: str) -> list[Step]:
    """Return the steps, each waiting for the one before it: package managers lock each other out.

    Args:
        steps: The steps.
        after: The step that the first of them waits for.
    """
    chain: list[Step] = []
    for step in steps:
        chain.append(replace(step, after=(chain[-1].name if chain else after,)))
    return chain


def _run(argv: tuple[str, ...], unless: tuple[str, ...], remedy: str) -> Run:
    return Run(
        argv=argv,
        unless=unless,
        tries=TRIES,
        pause_seconds=PAUSE_SECONDS,
        timeout_seconds=_INSTALL_SECONDS,
        remedy=remedy,
    )


def _way_to(where: str) -> str:
    return f"if it cannot be reached, give the node a way to {where}, or use an image that has the packages"
