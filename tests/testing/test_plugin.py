"""The fixtures, used as users use them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from aws_cdk import App, Stack
from aws_cdk import aws_sns as sns

TEST = """
def test_stack(gpu_app, gpu_template):
    from aws_cdk import Stack, aws_sns as sns
    stack = Stack(gpu_app, "Stack")
    sns.Topic(stack, "Topic")
    assert [r["Type"] for r in gpu_template(stack)["Resources"].values()] == ["AWS::SNS::Topic"]
    assert gpu_app.node.try_get_context("mine") == "yes"
"""


def test_app_has_the_context_of_cdk_json(gpu_app: App) -> None:
    assert gpu_app.node.try_get_context("@aws-cdk/aws-ec2:restrictDefaultSecurityGroup") is True


def test_template_is_normalized(gpu_app: App, gpu_template: object) -> None:
    stack = Stack(gpu_app, "Stack")
    sns.Topic(stack, "Topic")
    assert callable(gpu_template)
    assert set(gpu_template(stack)) == {"Resources"}


def test_plugin_works_in_a_project_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    (tmp_path / "cdk.json").write_text('{"context": {"mine": "yes"}}')
    (tmp_path / "test_it.py").write_text(TEST)
    (tmp_path / "run.py").write_text(
        "import sys, pytest\n"
        "plugins = ['-p', 'gpu_constructs.testing.plugin', '-p', 'no:cacheprovider']\n"
        "sys.exit(pytest.main([*plugins, 'test_it.py', '-q']))\n"
    )
    path = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r}); import runpy; runpy.run_path('run.py')"
    done = subprocess.run([sys.executable, "-c", path], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
