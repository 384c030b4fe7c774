"""Fetches an object of S3 as the role of this instance, for images without the aws command.

It is a part of the user data: hence its terseness, and nothing but the standard library.

See https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
"""

import datetime
import hashlib
import hmac
import json
import os
import shutil
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

IMDS = os.environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://169.254.169.254").rstrip("/") + "/latest/"
NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))
PAUSE_SECONDS = 2 * float(os.environ.get("GPU_NODE_PAUSES", "1"))
NOTHING = hashlib.sha256(b"").hexdigest()


def imds(path: str, method: str = "GET", **headers: str) -> str:
    named = {"X-aws-ec2-metadata-" + name: value for name, value in headers.items()}
    request = urllib.request.Request(IMDS + path, method=method, headers=named)
    text: str = NO_PROXY.open(request, timeout=5).read().decode()
    return text


def role_credentials() -> dict[str, str]:
    token = imds("api/token", "PUT", **{"token-ttl-seconds": "300"})
    folder = "meta-data/iam/security-credentials/"
    credentials: dict[str, str] = json.loads(imds(folder + imds(folder, token=token).split()[0], token=token))
    return credentials


def signed(region: str, bucket: str, key: str, now: datetime.datetime) -> urllib.request.Request:
    credentials = role_credentials()
    other = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    path = "/" + urllib.parse.quote(bucket + "/" + key if other else key)
    url = (other or f"https://{bucket}.s3.{region}.{suffix}").rstrip("/") + path
    stamp, scope = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d") + "/" + region + "/s3/aws4_request"
    headers = {
        "host": urllib.parse.urlsplit(url).netloc,
        "x-amz-content-sha256": NOTHING,
        "x-amz-date": stamp,
        "x-amz-security-token": credentials["Token"],
    }
    names = ";".join(headers)
    canonical = "\n".join(["GET", path, "", *(n + ":" + v for n, v in headers.items()), "", names, NOTHING])
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    signature = ("AWS4" + credentials["SecretAccessKey"]).encode()
    for part in [*scope.split("/"), text]:
        signature = hmac.new(signature, part.encode(), hashlib.sha256).digest()
    headers["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={credentials['AccessKeyId']}/{scope}, SignedHeaders={names}, "
        f"Signature={signature.hex()}"
    )
    return urllib.request.Request(url, headers=headers)


def fetch(region: str, bucket: str, key: str, target: str, tries: int = 6) -> str | None:
    reason = None
    for tried in range(tries):
        time.sleep(PAUSE_SECONDS * tried)
        try:
            request = signed(region, bucket, key, datetime.datetime.now(datetime.timezone.utc))
            with urllib.request.urlopen(request, timeout=60) as answer, Path(target).open("wb") as file:
                shutil.copyfileobj(answer, file)
            return None
        except urllib.error.HTTPError as error:
            reason = f"HTTP {error.code} {error.read()[:300].decode(errors='replace')}"
        except (OSError, ValueError, IndexError) as error:
            reason = repr(error)
    return f"s3://{bucket}/{key} cannot be fetched: {reason}"


if __name__ == "__main__":
    sys.exit(fetch(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4]))
