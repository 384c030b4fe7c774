"""The node's client of the metadata service, against the fake one: what it says, and that nothing ends who asks."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_constructs.local.imds import FakeImds, InstanceFacts, answers
from gpu_constructs.on_node.imds import Identity, Imds, ImdsUnavailable
from tests.local.imds.asking import MovedClock, fake

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

ID = "meta-data/instance-id"
SHORT = 0.1  # real seconds until a hang is noticed


class Clients:
    """Makes clients, and closes them in the end."""

    def __init__(self, clock: MovedClock) -> None:
        self.clock = clock
        self.open = ExitStack()

    def __call__(self, imds: FakeImds, *, timeout_seconds: float = 30, jitter: float = 1.0) -> Imds:
        clock = self.clock
        made = Imds(imds.endpoint, timeout_seconds=timeout_seconds, clock=clock, wait=clock.wait, random=lambda: jitter)
        return self.open.enter_context(closing(made))


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
def client(clock: MovedClock) -> Iterator[Clients]:
    clients = Clients(clock)
    with clients.open:
        yield clients


def _asked(imds: FakeImds) -> list[tuple[str, str, int | str | None]]:
    return [(one.method, one.path, one.fault or one.status) for one in imds.requests]


def test_a_node_learns_who_it_is(clock: MovedClock, client: Clients) -> None:
    facts = InstanceFacts(instance_type="g5g.xlarge", region="eu-west-1", architecture="arm64", life_cycle="spot")
    with fake((), clock, facts) as imds:
        asking = client(imds)
        assert asking.identity() == Identity(
            instance_id=facts.instance_id,
            instance_type="g5g.xlarge",
            region="eu-west-1",
            availability_zone="eu-west-1a",
            image_id=facts.image_id,
            private_ip="10.0.1.5",
            architecture="arm64",
        )
        assert asking.life_cycle() == "spot"


def test_where_there_is_nothing_nothing_is_the_answer_and_it_is_asked_once(clock: MovedClock, client: Clients) -> None:
    with fake((), clock) as imds:
        assert client(imds).target_lifecycle_state() is None
        path = "meta-data/autoscaling/target-lifecycle-state"
        assert _asked(imds) == [("PUT", "api/token", 200), ("GET", path, 404)]
        imds.set_lifecycle_state("Warmed:Stopped")
        assert client(imds).target_lifecycle_state() == "Warmed:Stopped"


def test_one_token_and_one_connection_serve_many_questions(clock: MovedClock, client: Clients) -> None:
    with fake((), clock) as imds:
        asking = client(imds)
        for _ in range(5):
            asking.get(ID)
        assert [one.method for one in imds.requests] == ["PUT"] + ["GET"] * 5
        assert {one.connection for one in imds.requests} == {1}
        asking.close()
        asking.get(ID)
        assert imds.requests[-1].connection == 2


@pytest.mark.parametrize(("granted", "kept"), [(21600, 21539), (4, 2.9)])
def test_a_token_is_renewed_before_the_time_that_was_granted_ends(
    granted: int, kept: float, clock: MovedClock, client: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "ttl_of", lambda _: granted)
    with fake((), clock) as imds:
        asking = client(imds)
        asking.get(ID)
        clock.seconds += kept
        asking.get(ID)
        assert [one.method for one in imds.requests] == ["PUT", "GET", "GET"]
        clock.seconds += granted - kept - 0.001  # it would still be valid
        asking.get(ID)
        assert [one.method for one in imds.requests][3:] == ["PUT", "GET"]
        assert {one.status for one in imds.requests} == {200}


def test_a_token_that_the_service_forgot_is_replaced_within_one_try(clock: MovedClock, client: Clients) -> None:
    with fake((), clock) as imds:
        asking = client(imds)
        asking.get(ID)
        imds.happen(do="expire_tokens")
        assert asking.get(ID, budget_seconds=0) == "i-0123456789abcdef0"
        assert _asked(imds)[2:] == [("GET", ID, 401), ("PUT", "api/token", 200), ("GET", ID, 200)]


def test_a_service_that_refuses_every_token_is_asked_until_the_budget_is_used(
    clock: MovedClock, client: Clients
) -> None:
    with fake([{"at": 0, "do": "status", "code": 401, "path": "instance-id", "for": 9}], clock) as imds:
        asking = client(imds)
        with pytest.raises(ImdsUnavailable, match="did not say meta-data/instance-id: it answered 401"):
            asking.get(ID, budget_seconds=3)
        one_try = ["PUT", "GET", "PUT", "GET"]
        assert [one.method for one in imds.requests][:8] == one_try * 2
        clock.seconds += 9
        assert asking.get(ID) == "i-0123456789abcdef0"


@pytest.mark.parametrize("code", [403, 429, 500, 503])
def test_errors_are_waited_out_with_longer_and_longer_pauses(code: int, clock: MovedClock, client: Clients) -> None:
    with fake([{"at": 0, "do": "status", "code": code, "for": 10}], clock) as imds:
        assert client(imds).get(ID) == "i-0123456789abcdef0"
    assert clock.waits == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 2, 2, 2, 2])


def test_pauses_have_full_jitter(clock: MovedClock, client: Clients) -> None:
    with fake([{"at": 0, "do": "status", "code": 503, "for": 1}], clock) as imds:
        client(imds, jitter=0.5).get(ID)
    assert clock.waits == pytest.approx([0.05, 0.1, 0.2, 0.4, 0.8])


def test_when_the_budget_is_used_the_error_says_what_happened_last(clock: MovedClock, client: Clients) -> None:
    with fake([{"at": 0, "do": "status", "code": 503, "for": 1000}], clock) as imds:
        said = f"{imds.endpoint} did not say {ID}: it answered the token request with 503"
        with pytest.raises(ImdsUnavailable) as raised:
            client(imds).get(ID, budget_seconds=5)
        assert str(raised.value) == said
        assert sum(clock.waits) == pytest.approx(5)  # the last pause is cut, and one more try ends it
        assert len(imds.requests) == len(clock.waits) + 1


def test_without_a_budget_there_is_one_try(clock: MovedClock, client: Clients) -> None:
    with fake([{"at": 0, "do": "status", "code": 503}], clock) as imds:
        with pytest.raises(ImdsUnavailable):
            client(imds).get(ID, budget_seconds=0)
        assert len(imds.requests) == 1
        assert clock.waits == []


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"do": "truncate"}, "the answer was cut short"),
        ({"do": "rst"}, "ConnectionResetError: "),
        ({"do": "status", "code": 502}, "it answered 502"),
    ],
)
def test_what_went_wrong_once_is_said_and_goes_right_the_next_time(
    entry: dict[str, Any], said: str, clock: MovedClock, client: Clients
) -> None:
    with fake([{"at": 0, "path": "instance-id", **entry}], clock) as imds:
        asking = client(imds)
        if entry["do"] == "rst":  # on a connection that was used before, one reset is no failure
            asking.get("meta-data/mac")
            assert asking.get(ID, budget_seconds=0) == "i-0123456789abcdef0"
            asking.close()
            imds.happen(path="instance-id", **entry)
        with pytest.raises(ImdsUnavailable, match=said):
            asking.get(ID, budget_seconds=0)
        assert asking.get(ID, budget_seconds=0) == "i-0123456789abcdef0"


def test_a_service_that_is_not_there_is_refused_and_asked_again(clock: MovedClock, client: Clients) -> None:
    with fake((), clock) as imds:
        asking = client(imds)
    with pytest.raises(ImdsUnavailable, match="ConnectionRefusedError"):
        asking.get(ID, budget_seconds=5)
    assert len(clock.waits) > 3


def test_a_service_that_was_started_again_meanwhile_answers_at_once(clock: MovedClock, client: Clients) -> None:
    with fake((), clock) as first:
        asking = client(first)
        asking.get(ID)
        port = int(first.endpoint.rpartition(":")[2])
    with FakeImds(InstanceFacts(instance_id="i-2"), port=port, clock=clock):
        assert asking.get(ID, budget_seconds=0) == "i-2"


def test_a_service_that_hangs_is_given_up_and_found_again(clock: MovedClock, client: Clients) -> None:
    with fake([{"at": 0, "do": "hang", "path": "instance-id", "for": 1}], clock) as imds:
        asking = client(imds, timeout_seconds=SHORT)
        with pytest.raises(ImdsUnavailable, match=r"instance-id: no answer within 0\.1 s$"):
            asking.get(ID, budget_seconds=0)
        assert asking.get(ID) == "i-0123456789abcdef0"
        assert [one.fault for one in imds.requests if one.path == ID][:2] == ["hang", "hang"]


def test_a_token_request_without_an_answer_names_the_hop_limit(clock: MovedClock, client: Clients) -> None:
    with fake([{"at": 0, "do": "hop_limit", "value": 1}], clock) as imds:
        asking = client(imds, timeout_seconds=SHORT)
        with pytest.raises(ImdsUnavailable, match=r"hop limit of 1 .*HttpPutResponseHopLimit to 2"):
            asking.get(ID, budget_seconds=0)
        imds.happen(do="hop_limit", value=2)
        assert asking.get(ID) == "i-0123456789abcdef0"


@pytest.mark.parametrize("document", [None, "", "{}", "[]", "<html>"])
def test_an_identity_document_that_is_none_is_as_good_as_no_answer(
    document: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Imds, "get", lambda *_, **__: document)
    with pytest.raises(ImdsUnavailable, match="has no complete identity document"):
        Imds("http://127.0.0.1").identity()


def test_the_environment_names_the_endpoint_and_no_proxy_is_asked(
    clock: MovedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with fake((), clock) as imds:
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", f"{imds.endpoint}/")
        with closing(Imds()) as asking:
            assert asking.get(ID, budget_seconds=0) == "i-0123456789abcdef0"


@pytest.mark.parametrize("named", [None, ""])
def test_without_a_name_the_endpoint_is_that_of_ec2(named: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", raising=False)
    if named is not None:
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", named)
    met = []

    def connect(connection: http.client.HTTPConnection) -> None:
        met.append((connection.host, connection.port))
        raise ConnectionRefusedError

    monkeypatch.setattr(http.client.HTTPConnection, "connect", connect)
    with pytest.raises(ImdsUnavailable, match=r"^http://169\.254\.169\.254 did not say"):
        Imds().get(ID, budget_seconds=0)
    assert met == [("169.254.169.254", 80)]


@pytest.mark.parametrize("endpoint", ["https://127.0.0.1", "127.0.0.1:1338", "http://"])
def test_an_endpoint_that_is_no_http_url_is_refused(endpoint: str) -> None:
    with pytest.raises(ValueError, match=f"must be an http:// URL, got '{endpoint.rstrip('/')}'"):
        Imds(endpoint)


_TIMES = st.integers(0, 8).map(lambda half: half / 2)
_FAULTS = st.fixed_dictionaries(
    {
        "at": _TIMES,
        "do": st.sampled_from(["status", "rst", "truncate", "hang"]),
        "path": st.sampled_from(["*", "api/token", "instance-id"]),
    },
    optional={"for": _TIMES},
).map(lambda entry: {**entry, "code": 503} if entry["do"] == "status" else entry)
_SCRIPTS = st.lists(
    st.one_of(_FAULTS, st.fixed_dictionaries({"at": _TIMES, "do": st.just("expire_tokens")})), max_size=6
)


@settings(max_examples=40, deadline=None)
@given(script=_SCRIPTS, jitter=st.sampled_from([0.5, 0.9, 1.0]))
def test_whatever_fails_for_a_while_the_answer_comes_and_is_right(script: list[dict[str, Any]], jitter: float) -> None:
    clock = MovedClock()
    client = Clients(clock)
    with fake(script, clock) as imds, client.open:
        asking = client(imds, timeout_seconds=0.05, jitter=jitter)
        for _ in range(8):
            assert asking.get(ID, budget_seconds=60) == "i-0123456789abcdef0"
            clock.seconds += 1
        assert max(clock.waits, default=0) <= 2
