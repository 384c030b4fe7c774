"""What the instance metadata service (IMDSv2) tells a node about itself.

It is asked all the time by whatever watches for a reclaim, so nothing that it does may end who asks: a token that is
refused is fetched again, and no answer, half an answer or an error is tried again until the caller's budget is used.

See https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html
"""

from __future__ import annotations

import http.client
import json
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import NamedTuple
from urllib.parse import urlsplit

_ENDPOINT_VARIABLE = "AWS_EC2_METADATA_SERVICE_ENDPOINT"  # the one that the AWS SDKs read
_ENDPOINT = "http://169.254.169.254"
_TOKEN_PATH = "api/token"  # noqa: S105 - a path
_TTL_HEADER = "X-aws-ec2-metadata-token-ttl-seconds"
_TOKEN_HEADER = "X-aws-ec2-metadata-token"  # noqa: S105 - a header's name
_TTL_SECONDS = 21600  # the longest that there is
_RENEWED_BEFORE_SECONDS = 60
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 2.0
_OK, _UNAUTHORIZED, _NOT_FOUND = 200, 401, 404


class ImdsUnavailable(ConnectionError):  # noqa: N818 - what its users call it
    """The metadata service did not answer in time; the message says what happened last."""


class _FailedError(Exception):
    """One try that came to nothing, and what happened."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Who a node is.

    Args:
        instance_id: Its id.
        instance_type: Its type.
        region: Its Region.
        availability_zone: Its zone.
        image_id: The AMI that it was started from.
        private_ip: Its primary private address.
        architecture: "x86_64" or "arm64", in EC2's words: `uname` says aarch64.
    """

    instance_id: str
    instance_type: str
    region: str
    availability_zone: str
    image_id: str
    private_ip: str
    architecture: str


class _Answer(NamedTuple):
    status: int
    text: str
    headers: http.client.HTTPMessage


@dataclass(frozen=True)
class _Token:
    value: str
    renew_at: float


class Imds:
    """The metadata service of this instance, over one connection: not for several threads at once.

    Args:
        endpoint: Where it is; by default the environment's AWS_EC2_METADATA_SERVICE_ENDPOINT, else 169.254.169.254.
        timeout_seconds: How long to wait for an answer. It comes from the machine itself, or not at all.
        clock: Seconds since some moment.
        wait: Waits for a number of seconds.
        random: Returns a number from 0 to 1.
    """

    def __init__(
        self,
        endpoint: str | None = None,
        *,
        timeout_seconds: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], object] = time.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        self._endpoint = (endpoint or os.environ.get(_ENDPOINT_VARIABLE) or _ENDPOINT).rstrip("/")
        where = urlsplit(self._endpoint)
        if where.scheme != "http" or not where.hostname:
            raise ValueError(f"the endpoint of the metadata service must be an http:// URL, got {self._endpoint!r}")
        self._timeout_seconds = timeout_seconds
        self._base = f"{where.path}/latest/"
        self._connection = http.client.HTTPConnection(where.hostname, where.port, timeout=timeout_seconds)
        self._token: _Token | None = None
        self._clock, self._wait, self._random = clock, wait, random

    def get(self, path: str, *, budget_seconds: float = 30.0) -> str | None:
        """Return what is at a path below /latest/, None if there is nothing.

        Args:
            path: For example "meta-data/spot/instance-action".
            budget_seconds: For how long to try again; 0 means one try.

        Raises:
            ImdsUnavailable: If no try within the budget brought an answer.
        """
        began = self._clock()
        longest = _FIRST_PAUSE_SECONDS
        while True:
            try:
                return self._read(path)
            except _FailedError as failed:
                left = began + budget_seconds - self._clock()
                if left <= 0:
                    raise ImdsUnavailable(f"{self._endpoint} did not say {path}: {failed}") from failed.__cause__
            # Full jitter: whatever made one node wait made others wait too.
            self._wait(min(longest * self._random(), left))
            longest = min(longest * 2, _LONGEST_PAUSE_SECONDS)

    def identity(self, *, budget_seconds: float = 30.0) -> Identity:
        """Return who this instance is.

        Raises:
            ImdsUnavailable: If it cannot be found out.
        """
        text = self.get("dynamic/instance-identity/document", budget_seconds=budget_seconds)
        try:
            document = json.loads(text or "")
            return Identity(**{field.name: document[_camel(field.name)] for field in fields(Identity)})
        except (ValueError, KeyError, TypeError) as error:
            raise ImdsUnavailable(f"{self._endpoint} has no complete identity document, but {text!r}") from error

    def life_cycle(self, *, budget_seconds: float = 30.0) -> str | None:
        """Return how the instance was bought: "spot", "on-demand", ..."""
        return self.get("meta-data/instance-life-cycle", budget_seconds=budget_seconds)

    def target_lifecycle_state(self, *, budget_seconds: float = 30.0) -> str | None:
        """Return the state that Auto Scaling takes the instance to, None if it has not said yet or is not asked to.

        https://docs.aws.amazon.com/autoscaling/ec2/userguide/retrieving-target-lifecycle-state-through-imds.html
        """
        return self.get("meta-data/autoscaling/target-lifecycle-state", budget_seconds=budget_seconds)

    def close(self) -> None:
        """Close the connection; the next question opens another."""
        self._connection.close()

    def _read(self, path: str) -> str | None:
        answer = self._ask_with_token(path)
        if answer.status == _UNAUTHORIZED:  # the service has forgotten the token, however young it is
            self._token = None
            answer = self._ask_with_token(path)
        if answer.status == _NOT_FOUND:
            return None
        if answer.status != _OK:
            self._token = None if answer.status == _UNAUTHORIZED else self._token
            raise _FailedError(f"it answered {answer.status}")
        return answer.text

    def _ask_with_token(self, path: str) -> _Answer:
        return self._ask("GET", path, {_TOKEN_HEADER: self._valid_token()})

    def _valid_token(self) -> str:
        now = self._clock()
        if self._token is None or now >= self._token.renew_at:
            self._token = None
            self._token = self._new_token(now)
        return self._token.value

    def _new_token(self, now: float) -> _Token:
        try:
            answer = self._ask("PUT", _TOKEN_PATH, {_TTL_HEADER: str(_TTL_SECONDS)})
        except _FailedError as failed:
            if not isinstance(failed.__cause__, TimeoutError):
                raise
            raise _FailedError(
                f"the token request got no answer within {self._timeout_seconds:g} s; in a container, that is what a "
                "hop limit of 1 looks like (set the instance's HttpPutResponseHopLimit to 2); on the host, a firewall"
            ) from failed.__cause__
        if answer.status != _OK:
            raise _FailedError(f"it answered the token request with {answer.status}")
        echoed = answer.headers.get(_TTL_HEADER, "")
        ttl = int(echoed) if echoed.isdecimal() else _TTL_SECONDS
        return _Token(answer.text, now + ttl - min(_RENEWED_BEFORE_SECONDS, ttl / 4))

    def _ask(self, method: str, path: str, headers: dict[str, str]) -> _Answer:
        """Ask once; a connection that the other side has closed meanwhile is no failure, it is opened again."""
        reused = self._connection.sock is not None
        try:
            try:
                return self._exchange(method, path, headers)
            except ConnectionError:
                if not reused:
                    raise
                return self._exchange(method, path, headers)
        except (OSError, http.client.HTTPException) as error:
            raise _FailedError(_what_happened(error, self._timeout_seconds)) from error

    def _exchange(self, method: str, path: str, headers: dict[str, str]) -> _Answer:
        try:
            self._connection.request(method, self._base + path, headers=headers)
            response = self._connection.getresponse()
            return _Answer(response.status, response.read().decode(errors="replace"), response.headers)
        except BaseException:
            self._connection.close()  # half an answer in it would be taken for the next one
            raise


def _what_happened(error: Exception, timeout_seconds: float) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {timeout_seconds:g} s"
    if isinstance(error, http.client.IncompleteRead):
        return "the answer was cut short"
    return f"{type(error).__name__}: {error}"


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
