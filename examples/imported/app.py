"""The app of ImportedStack: `cdk deploy --app "python -m examples.imported.app" -c vpc_id=... -c subnet_id=...`."""

from __future__ import annotations

from dataclasses import fields

from aws_cdk import App

from examples.imported.stack import Existing, ImportedStack

app = App()
given = {field.name: app.node.try_get_context(field.name) for field in fields(Existing)}
missing = [name for name, value in given.items() if value is None]
if missing:
    raise SystemExit(f"say what exists, by {' '.join(f'-c {name}=...' for name in missing)}")
ImportedStack(app, "ImportedStack", existing=Existing(**given))
app.synth()
