"""Scripts and facts that are wrong are refused by words that say what is right."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_constructs.local.imds import InstanceFacts, Interface
from gpu_constructs.local.imds.metadata import known_paths
from gpu_constructs.local.imds.script import parse

PATHS = known_paths(InstanceFacts())
PAGE = (Path(__file__).parents[3] / "docs" / "local_aws.md").read_text()
SECTION = PAGE.partition("## The fake instance metadata service")[2].partition("\n## ")[0]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("notice", "must be an object, got 'notice'"),
        ({"at": 0}, "do must be expire_tokens, hang, .* or withdraw, got None"),
        ({"at": 0, "do": "explode"}, "do must be .*, got 'explode'"),
        ({"do": "rebalance"}, "rebalance needs at"),
        ({"at": -1, "do": "rebalance"}, "at must be at least 0, got -1"),
        ({"at": "1", "do": "rebalance"}, "at must be a number, got '1'"),
        ({"at": True, "do": "rebalance"}, "at must be a number, got True"),
        ({"at": float("nan"), "do": "rebalance"}, "at must be a number, got nan"),
        ({"at": 0, "do": "rebalance", "in": 3}, "rebalance has no in; it has at"),
        ({"at": 0, "do": "status"}, "status needs code"),
        ({"at": 0, "do": "status", "code": 200}, "code must be from 400 to 599, got 200"),
        ({"at": 0, "do": "status", "code": 503.0}, r"code must be a whole number, got 503\.0"),
        ({"at": 0, "do": "hang", "for": -2}, "for must be at least 0, got -2"),
        ({"at": 0, "do": "rst", "path": "spot/instance-acton"}, "did you mean 'meta-data/spot/instance-action'"),
        ({"at": 0, "do": "rst", "path": "z" * 40}, r"path that this instance answers, got 'meta-data/z{40}'$"),
        ({"at": 0, "do": "rst", "path": 5}, "path must be a text, got 5"),
        ({"at": 0, "do": "notice", "action": "kill"}, "action must be terminate, stop or hibernate, got 'kill'"),
        ({"at": 0, "do": "notice", "path": "mac"}, "path must be .*instance-action.*, got 'meta-data/mac'"),
        ({"at": 0, "do": "scheduled_event", "code": "reboot"}, "code must be instance-reboot, .*, got 'reboot'"),
        ({"at": 0, "do": "scheduled_event", "id": ""}, "id must be a text, got ''"),
        ({"at": 0, "do": "lifecycle_state"}, "lifecycle_state needs state"),
        ({"at": 0, "do": "hop_limit", "value": 65}, "value must be from 1 to 64, got 65"),
    ],
)
def test_a_wrong_entry_is_refused(entry: Any, said: str) -> None:
    with pytest.raises(ValueError, match=f"^entry 0: .*{said}"):
        parse([entry], PATHS)


def test_all_wrong_entries_are_named_at_once() -> None:
    script = [{"at": 0, "do": "hang"}, {"at": 0, "do": "status"}, {"at": -1, "do": "rst"}]
    with pytest.raises(ValueError, match=r"^entry 1: status needs code\nentry 2: at must be at least 0, got -1$"):
        parse(script, PATHS)


@pytest.mark.parametrize("script", [{"at": 0}, "hang", 5, None])
def test_a_script_that_is_no_list_is_refused(script: Any) -> None:
    with pytest.raises(ValueError, match="a script must be a list of entries, got "):
        parse(script, PATHS)


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
)
_KEYS = st.sampled_from(["at", "do", "for", "in", "path", "code", "state", "value", "action", "by", "other"])
_DOS = st.sampled_from(["notice", "status", "hang", "hop_limit", "withdraw", "lifecycle_state", "scheduled_event"])


@given(entry=st.dictionaries(_KEYS, _ANYTHING, max_size=4), do=_DOS | _ANYTHING)
def test_whatever_is_given_is_read_or_refused_by_its_number(entry: dict[str, Any], do: Any) -> None:
    try:
        (read,) = parse([{"at": 1, **entry, "do": do}], PATHS)
    except ValueError as error:
        assert str(error).startswith("entry 0: ")  # noqa: PT017 - either outcome is right
    else:
        assert read.at == entry.get("at", 1)


def test_the_page_describes_every_entry_and_nothing_else() -> None:
    described = set(re.findall(r"^\| `(\w+)` \|", SECTION, re.MULTILINE))
    with pytest.raises(ValueError, match="do must be") as raised:
        parse([{"at": 0, "do": None}], PATHS)
    allowed = str(raised.value).removeprefix("entry 0: do must be ").partition(", got")[0]
    assert described == set(re.split(", | or ", allowed))


def test_the_script_on_the_page_is_one() -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", SECTION, re.DOTALL)
    assert len(parse(json.loads(shown), PATHS)) == shown.count('"do"')


def test_facts_are_read_from_json() -> None:
    given_facts = {
        "instance_type": "p5.48xlarge",
        "region": "eu-west-1",
        "tags": {"Name": "x"},
        "role": None,
        "security_group_ids": ["sg-1", "sg-2"],
        "interfaces": [{"mac": "02:00:00:00:00:01"}, {"mac": "02:00:00:00:00:02", "network_card": 1}],
    }
    assert InstanceFacts.from_json(json.dumps(given_facts)) == InstanceFacts(
        instance_type="p5.48xlarge",
        region="eu-west-1",
        availability_zone="eu-west-1a",
        tags={"Name": "x"},
        role=None,
        security_group_ids=("sg-1", "sg-2"),
        interfaces=(
            Interface(mac="02:00:00:00:00:01", private_ip="10.0.1.5"),
            Interface(mac="02:00:00:00:00:02", network_card=1),
        ),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", r"the facts must be a JSON object, got \[\]"),
        ('{"type": "p5"}', "the facts must not have type; there are access_key_id, "),
        ('{"instance_type": 5}', "instance_type of the facts must not be 5"),
        ('{"instance_id": null}', "instance_id of the facts must not be None"),
        ('{"interfaces": []}', "an instance has at least one network interface, got none"),
        ('{"interfaces": ["eni"]}', "an interface must be a JSON object, got 'eni'"),
        ('{"interfaces": [{"network_card": true}]}', "network_card of an interface must not be True"),
        ("{", "Expecting property name"),
    ],
)
def test_facts_that_are_wrong_are_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        InstanceFacts.from_json(text)
