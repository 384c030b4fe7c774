"""Where the fake metadata service listens, that nothing of it is left, and that it runs as a program of its own."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpu_constructs.local.imds import FakeImds, InstanceFacts, Request
from gpu_constructs.on_node.imds import Imds
from tests.local.imds.asking import MovedClock, fake, read_meta

pytestmark = pytest.mark.allow_hosts(["127.0.0.1", "127.0.0.2", "::1"])


def test_nodes_have_addresses_of_their_own_and_may_share_a_port() -> None:
    with FakeImds(InstanceFacts(instance_id="i-1")) as first:
        port = int(first.endpoint.rpartition(":")[2])
        with FakeImds(InstanceFacts(instance_id="i-2"), address="127.0.0.2", port=port) as second:
            assert second.endpoint == f"http://127.0.0.2:{port}"
            assert [read_meta(one, "instance-id") for one in (first, second)] == ["i-1", "i-2"]


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_an_address_may_be_of_ipv6() -> None:
    with FakeImds(InstanceFacts(), address="::1") as imds:
        assert imds.endpoint.startswith("http://[::1]:")
        assert read_meta(imds, "instance-id") == "i-0123456789abcdef0"


@pytest.mark.parametrize("address", ["0.0.0.0", "10.0.0.1", "::"])
def test_an_address_that_others_could_reach_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match=f"must be a loopback address or 169.254.169.254 .*, got {address}"):
        FakeImds(InstanceFacts(), address=address)


def test_a_port_that_is_taken_is_an_error() -> None:
    with fake() as imds, pytest.raises(OSError, match="Address already in use"):
        FakeImds(InstanceFacts(), port=int(imds.endpoint.rpartition(":")[2]))


def test_nothing_is_left_of_a_service_that_many_have_asked() -> None:
    before = threading.active_count()
    clock = MovedClock()
    asking = []
    with fake((), clock) as imds:
        for _ in range(5):  # connections stay open
            asking.append(Imds(imds.endpoint))
            asking[-1].get("meta-data/mac")
        assert threading.active_count() == before + 6
    assert threading.active_count() == before
    imds.close()  # once more does no harm
    for one in asking:
        one.close()


def test_many_may_ask_at_the_same_time() -> None:
    with fake() as imds:
        threads = [threading.Thread(target=read_meta, args=(imds, "mac")) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [one.status for one in imds.requests] == [200] * 40
        assert {one.connection for one in imds.requests} == set(range(1, 41))


def test_whoever_wants_to_know_is_told_of_each_request() -> None:
    told: list[Request] = []
    with FakeImds(InstanceFacts(), on_request=told.append) as imds:
        read_meta(imds, "mac")
        assert [one.path for one in told] == ["api/token", "meta-data/mac"]
        assert told == imds.requests


@contextmanager
def _program(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "gpu_constructs.local.imds", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_it_runs_as_a_program_until_it_is_told_to_stop(end: signal.Signals, tmp_path: Path) -> None:
    facts, script, log = (tmp_path / name for name in ("facts.json", "script.json", "requests.jsonl"))
    facts.write_text('{"instance_id": "i-7"}')
    script.write_text('[{"at": 0, "do": "status", "code": 503, "path": "instance-id"}]')
    files = ["--facts", str(facts), "--script", str(script), "--log", str(log)]
    with _program("--address", "127.0.0.2", *files) as process:
        assert process.stdout is not None
        asking = Imds(process.stdout.readline().strip(), timeout_seconds=30, random=lambda: 0.01)
        assert asking.get("meta-data/instance-id") == "i-7"
        asking.close()
        process.send_signal(end)
        assert process.wait(timeout=30) == 0
    seen = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(one["path"], one["status"], one["fault"]) for one in seen] == [
        ("api/token", 200, None),
        ("meta-data/instance-id", 503, "status"),
        ("meta-data/instance-id", 200, None),
    ]


def test_the_program_says_what_is_wrong_in_its_script(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"at": 0, "do": "status"}]')
    with _program("--script", str(script)) as process:
        printed, said = process.communicate(timeout=60)
    assert (process.returncode, printed, said) == (1, "", "entry 0: status needs code\n")
