from __future__ import annotations

import pytest
from aws_cdk import App, CfnParameter, Stack
from aws_cdk import aws_s3_assets as assets
from aws_cdk.assertions import Template

from gpu_constructs.testing import normalize

HASH = "0123456789abcdef" * 4


def test_hashes_and_the_runtime_of_functions_are_masked() -> None:
    template = {"Resources": {"A": {"Properties": {"Key": f"{HASH}.zip", "Runtime": "nodejs24.x"}}}}
    assert normalize(template) == {"Resources": {"A": {"Properties": {"Key": "<asset>.zip", "Runtime": "<nodejs>"}}}}
    assert template["Resources"]["A"]["Properties"]["Runtime"] == "nodejs24.x", "what was given stays as it is"


@pytest.mark.parametrize("text", [HASH[:-1], f"{HASH}0", HASH.upper(), "nodejs"])
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert normalize({"Outputs": {"A": {"Value": text}}}) == {"Outputs": {"A": {"Value": text}}}


def test_bootstrap_and_metadata_of_a_real_stack_are_left_out() -> None:
    stack = Stack(App(analytics_reporting=True), "Stack")
    CfnParameter(stack, "Mine")
    raw = Template.from_stack(stack).to_json()
    assert "CheckBootstrapVersion" in raw["Rules"]
    assert normalize(Template.from_stack(stack)) == {"Parameters": {"Mine": {"Type": "String"}}}


def test_sections_of_the_user_stay_even_when_empty() -> None:
    assert normalize({"Resources": {}, "Rules": {"Mine": {}}}) == {"Resources": {}, "Rules": {"Mine": {}}}


def test_hash_of_a_real_asset_is_masked() -> None:
    stack = Stack(App(), "Stack")
    asset = assets.Asset(stack, "Asset", path=__file__)
    stack.export_value(asset.s3_object_key, name="Key")
    assert normalize(Template.from_stack(stack))["Outputs"]["ExportKey"]["Value"] == "<asset>.py"
