"""Makes a template the same from one release of CDK and one machine to the next."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Protocol

_ASSET = re.compile(r"\b[0-9a-f]{64}\b")
_RUNTIME = re.compile(r"\bnodejs\d+\.x\b")
_NOISE = {
    "Conditions": ("CDKMetadataAvailable",),
    "Parameters": ("BootstrapVersion",),
    "Resources": ("CDKMetadata",),
    "Rules": ("CheckBootstrapVersion",),
}


class _CdkTemplate(Protocol):
    def to_json(self) -> Mapping[str, Any]: ...


AnyTemplate = Mapping[str, Any] | _CdkTemplate
"""A template as CDK's assertions have it (`Template.from_stack(stack)`), or as a dictionary."""


def as_dict(template: AnyTemplate) -> dict[str, Any]:
    """Return a template as plain dictionaries and lists, independent of what was given."""
    plain: dict[str, Any] = json.loads(json.dumps(template if isinstance(template, Mapping) else template.to_json()))
    return plain


def normalize(template: AnyTemplate) -> dict[str, Any]:
    """Return a template without what changes by itself, for comparison with a snapshot.

    Hashes of assets become `<asset>`, the Node runtime that CDK picks for functions of its own `<nodejs>`. The
    parameter and rule by which a stack checks its bootstrap version, and the resource and condition by which CDK
    reports usage, are left out, and so are sections that they leave empty. Everything else stays as it is; the template
    given is not changed.

    Args:
        template: The template.
    """
    text = _RUNTIME.sub("<nodejs>", _ASSET.sub("<asset>", json.dumps(as_dict(template))))
    normalized: dict[str, Any] = json.loads(text)
    for section, names in _NOISE.items():
        if not any(name in normalized.get(section, {}) for name in names):
            continue
        kept = {name: value for name, value in normalized[section].items() if name not in names}
        if kept:
            normalized[section] = kept
        else:
            del normalized[section]
    return normalized
