"""Fetches the libraries that nodes use when a wheel is built; they are not in the repository."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Vendor(BuildHookInterface):  # type: ignore[type-arg]
    """Makes `gpu_constructs/on_node/_vendor.zip`, before the files of the wheel are looked for."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make it; not for an editable install, which `make` does, and where synth says what is missing."""
        if version == "editable":
            return
        # By its path: the package itself cannot be imported where it is built, without what it depends on.
        path = Path(self.root) / "gpu_constructs" / "bundle" / "vendor.py"
        spec = importlib.util.spec_from_file_location("vendor", path)
        assert spec
        assert spec.loader
        vendor = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(vendor)
        vendor.fill()
        build_data["artifacts"].append("/gpu_constructs/on_node/_vendor.zip")
