"""What a stack leaves behind by design when it is destroyed: found before, emptied and named after."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from gpu_constructs.local.process import LocalAws


@dataclass(frozen=True)
class Retained:
    """A resource whose deletion policy keeps it."""

    logical_id: str
    type: str
    physical_id: str


def of_stack(aws: LocalAws, stack: str, region: str | None = None) -> list[Retained]:
    """What destroying `stack` will leave, asked while the stack is there."""
    cloudformation = aws.client("cloudformation", region)
    template = cloudformation.get_template(StackName=stack)["TemplateBody"]
    definitions = (json.loads(template) if isinstance(template, str) else template)["Resources"]
    kept = {name for name, one in definitions.items() if one.get("DeletionPolicy", "").startswith("Retain")}
    summaries = cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack)
    return [
        Retained(one["LogicalResourceId"], one["ResourceType"], one["PhysicalResourceId"])
        for page in summaries
        for one in page["StackResourceSummaries"]
        if one["LogicalResourceId"] in kept
    ]


def empty(aws: LocalAws, retained: Retained, region: str | None = None) -> int:
    """Delete every object (and version) of a retained bucket; how many there were. Other types hold nothing here."""
    if retained.type != "AWS::S3::Bucket":
        return 0
    s3 = aws.client("s3", region)
    found: list[dict[str, Any]] = []
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=retained.physical_id):
        found += page.get("Versions", []) + page.get("DeleteMarkers", [])
    for one in found:
        s3.delete_object(Bucket=retained.physical_id, Key=one["Key"], VersionId=one["VersionId"])
    return len(found)
