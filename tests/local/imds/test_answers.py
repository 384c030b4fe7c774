"""What the fake metadata service answers when nothing is scripted: token rules, paths, and what boto3 makes of it."""

from __future__ import annotations

import http.client
import json
from typing import Any

import botocore.session
import pytest

from gpu_constructs.local.imds import InstanceFacts, Interface
from tests.local.imds.asking import MovedClock, ask, fake, read, read_meta, token

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

TTL = "X-aws-ec2-metadata-token-ttl-seconds"
TOKEN_PATH, ID = "/latest/api/token", "/latest/meta-data/instance-id"


@pytest.mark.parametrize("ttl", ["1", "21600"])
def test_a_token_is_given_for_one_second_to_six_hours_and_its_time_is_echoed(ttl: str) -> None:
    with fake() as imds:
        answer = ask(imds, TOKEN_PATH, "PUT", X_aws_ec2_metadata_token_ttl_seconds=ttl)
        assert (answer.status, answer.headers[TTL.lower()]) == (200, ttl)
        assert len(answer.text) == 56
        assert answer.text != token(imds)


@pytest.mark.parametrize("ttl", [None, "", "0", "21601", "-1", "1.5", "ten", "²"])
def test_no_token_is_given_for_another_time(ttl: str | None) -> None:
    headers = {} if ttl is None else {TTL: ttl}
    with fake() as imds:
        assert ask(imds, TOKEN_PATH, "PUT", **headers).status == 400


def test_no_token_is_given_to_a_proxy_nor_at_a_dated_path() -> None:
    with fake() as imds:
        assert ask(imds, TOKEN_PATH, "PUT", **{TTL: "60", "X-Forwarded-For": "10.0.0.1"}).status == 403
        assert ask(imds, "/2021-03-23/api/token", "PUT", **{TTL: "60"}).status == 403


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", ID), ("POST", ID), ("DELETE", ID), ("PATCH", ID), ("OPTIONS", ID), ("GET", TOKEN_PATH)]
)
def test_other_methods_are_not_allowed(method: str, path: str) -> None:
    with fake() as imds:
        assert ask(imds, path, method, X_aws_ec2_metadata_token=token(imds)).status == 405


def test_nothing_is_said_without_a_token_that_is_valid() -> None:
    clock = MovedClock()
    with fake(clock=clock) as imds:
        assert ask(imds, ID).status == 401
        assert ask(imds, "/latest/meta-data/no/such/path").status == 401
        assert ask(imds, ID, X_aws_ec2_metadata_token="made-up").status == 401
        given = token(imds, ttl=60)
        clock.seconds += 59.9
        assert ask(imds, ID, X_aws_ec2_metadata_token=given).text == "i-0123456789abcdef0"
        clock.seconds += 0.1
        assert ask(imds, ID, X_aws_ec2_metadata_token=given).status == 401


def test_a_head_request_has_the_length_and_no_body() -> None:
    with fake() as imds:
        connection = http.client.HTTPConnection("127.0.0.1", int(imds.endpoint.rpartition(":")[2]), timeout=30)
        for method in ("HEAD", "GET"):  # a body of the first would be taken for the head of the second
            connection.request(method, ID, headers={"X-aws-ec2-metadata-token": token(imds)})
            response = connection.getresponse()
            assert (response.status, response.headers["Content-Length"]) == (200, "19")
            assert response.read() == (b"" if method == "HEAD" else b"i-0123456789abcdef0")
        connection.close()


def test_dated_versions_answer_too_and_others_do_not() -> None:
    with fake() as imds:
        given = token(imds)
        assert ask(imds, "/2021-03-23/meta-data/instance-id", X_aws_ec2_metadata_token=given).status == 200
        assert ask(imds, "/newest/meta-data/instance-id", X_aws_ec2_metadata_token=given).status == 404


def test_folders_are_listed_with_or_without_a_slash_and_values_found_with_one() -> None:
    with fake(facts=InstanceFacts(tags={"Name": "a node", "team": "x"}, placement_group="close")) as imds:
        listed = "availability-zone\navailability-zone-id\ngroup-name\nregion"
        assert read_meta(imds, "placement") == read_meta(imds, "placement/") == listed
        assert read_meta(imds, "placement/availability-zone/") == "us-east-1a"
        assert read_meta(imds, "tags/instance") == "Name\nteam"
        assert read_meta(imds, "tags/instance/Name") == "a node"
        top = read_meta(imds, "")
        assert top is not None
        assert {"iam/", "placement/", "tags/", "instance-id"} <= set(top.split("\n"))
        assert "spot/" not in top.split("\n")


def test_what_the_instance_does_not_have_is_not_there() -> None:
    with fake(facts=InstanceFacts(role=None, tags=None)) as imds:
        for path in ("iam/info", "iam/security-credentials/", "tags/instance", "placement/group-name", "no/such/path"):
            assert read_meta(imds, path) is None
        assert read(imds, "user-data") is None
        assert read_meta(imds, "instance-id/below") is None


def test_user_data_and_the_purchasing_option_are_those_of_the_instance() -> None:
    with fake(facts=InstanceFacts(user_data="#!/bin/bash\necho é\n", life_cycle="spot")) as imds:
        assert read(imds, "user-data") == "#!/bin/bash\necho é\n"
        assert read_meta(imds, "instance-life-cycle") == "spot"


def test_the_identity_document_has_the_names_that_the_sdks_read() -> None:
    with fake(facts=InstanceFacts(region="eu-west-1", instance_type="p5.48xlarge")) as imds:
        text = read(imds, "dynamic/instance-identity/document")
        document = json.loads(text or "")
    assert (
        document
        | {
            "accountId": "123456789012",
            "availabilityZone": "eu-west-1a",
            "instanceType": "p5.48xlarge",
            "pendingTime": "2026-03-01T12:00:00Z",
            "region": "eu-west-1",
        }
        == document
    )


def test_each_interface_is_found_by_its_mac_address() -> None:
    facts = InstanceFacts(interfaces=(Interface(), Interface(mac="02:00:00:00:00:02", device_number=1, network_card=1)))
    with fake(facts=facts) as imds:
        primary, second = "02:00:0a:00:01:05", "02:00:00:00:00:02"
        assert read_meta(imds, "network/interfaces/macs/") == f"{second}/\n{primary}/"
        assert read_meta(imds, "mac") == primary
        assert read_meta(imds, f"network/interfaces/macs/{primary}/local-ipv4s") == "10.0.1.5"
        assert read_meta(imds, f"network/interfaces/macs/{second}/local-ipv4s") is None  # EFA only
        assert read_meta(imds, f"network/interfaces/macs/{second}/network-card") == "1"
        ids = {read_meta(imds, f"network/interfaces/macs/{mac}/interface-id") for mac in (primary, second)}
        assert len(ids) == 2


def test_credentials_are_given_anew_each_hour_for_six() -> None:
    clock = MovedClock()
    with fake(clock=clock) as imds:
        clock.seconds += 3599
        first = json.loads(read_meta(imds, "iam/security-credentials/node") or "")
        clock.seconds += 1
        second = json.loads(read_meta(imds, "iam/security-credentials/node") or "")
    assert (first["LastUpdated"], first["Expiration"]) == ("2026-03-01T12:00:00Z", "2026-03-01T18:00:00Z")
    assert (second["LastUpdated"], second["Expiration"]) == ("2026-03-01T13:00:00Z", "2026-03-01T19:00:00Z")


@pytest.fixture
def boto_session(monkeypatch: pytest.MonkeyPatch) -> botocore.session.Session:
    """A session that finds nothing of whoever runs the tests."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_EC2_METADATA_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/no/such/file")
    return botocore.session.Session()


def test_boto3_takes_its_credentials_from_it_as_on_a_node(
    boto_session: botocore.session.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = InstanceFacts(role="of-the-node", access_key_id="AKIDNODE", secret_access_key="hush")
    with fake(facts=facts) as imds:
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", imds.endpoint)
        found: Any = boto_session.get_credentials()
        assert found.method == "iam-role"
        given = found.get_frozen_credentials()
        assert (given.access_key, given.secret_key) == ("AKIDNODE", "hush")
        assert given.token == "session-of-i-0123456789abcdef0"
        assert [one.path for one in imds.requests if one.status == 200] == [
            "api/token",
            "meta-data/iam/security-credentials",
            "meta-data/iam/security-credentials/of-the-node",
        ]


def test_boto3_asks_again_when_it_fails_and_finds_none_without_a_role(
    boto_session: botocore.session.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    boto_session.set_config_variable("metadata_service_num_attempts", 3)
    with fake([{"at": 0, "do": "status", "code": 503}, {"at": 0, "do": "rst", "path": "iam"}]) as imds:
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", imds.endpoint)
        assert boto_session.get_credentials() is not None
        assert 503 in {one.status for one in imds.requests}
    with fake(facts=InstanceFacts(role=None)) as imds:
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", imds.endpoint)
        assert botocore.session.Session().get_credentials() is None
        assert len(imds.requests) > 1


def test_boto3_takes_the_region_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from botocore.utils import InstanceMetadataRegionFetcher

    with fake(facts=InstanceFacts(region="ap-south-1")) as imds:
        fetcher = InstanceMetadataRegionFetcher(config={"ec2_metadata_service_endpoint": imds.endpoint})
        assert fetcher.retrieve_region() == "ap-south-1"
