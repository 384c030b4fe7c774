"""Environments made from nothing, in which no program can reach any AWS but the local one. Pure."""

from __future__ import annotations

from pathlib import Path

from gpu_constructs.local import access


def aws_environment(*, port: int, region: str, directory: Path) -> dict[str, str]:
    """What an AWS client needs to talk to the local AWS, and to nothing else.

    Args:
        port: The local AWS's.
        region: Default Region.
        directory: Where configuration files would be; they are named and absent, so that nobody's own are read.
    """
    return {
        "AWS_ACCESS_KEY_ID": access.ACCESS_KEY_ID,
        "AWS_SECRET_ACCESS_KEY": access.SECRET_ACCESS_KEY,
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        # moto finds bucket and key of a template's URL by "localhost"; S3's path-style addresses want an IP address.
        "AWS_ENDPOINT_URL": f"http://localhost:{port}",
        "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{port}",
        "AWS_CONFIG_FILE": str(directory / "no-aws-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(directory / "no-aws-credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def cdk_environment(
    *, port: int, region: str, directory: Path, path: tuple[Path, ...], jsii_cache: Path
) -> dict[str, str]:
    """What the CDK command line is started with: the above, and no home of anyone's, no proxy, no telemetry.

    Args:
        port: The local AWS's.
        region: Default Region.
        directory: A directory of the local AWS's own.
        path: Where programs are looked for (Node, and the Python that runs the app) before the system's own.
        jsii_cache: Where jsii keeps what it unpacks, else each run would unpack anew.
    """
    return {
        **aws_environment(port=port, region=region, directory=directory),
        "PATH": ":".join([*(str(p) for p in path), "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": str(directory / "home"),
        "CDK_HOME": str(directory / "home" / ".cdk"),  # the command line does not ask HOME
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "CDK_DISABLE_VERSION_CHECK": "true",
        "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(jsii_cache),
        "PYTHONUNBUFFERED": "1",
    }
