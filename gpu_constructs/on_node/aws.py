"""How the node talks to AWS: clients that give up in time, which errors pass, and how often to try again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

_T = TypeVar("_T")

_THROTTLED = frozenset(
    {"Throttling", "ThrottlingException", "RequestLimitExceeded", "SlowDown", "TooManyRequestsException"}
)
_TOO_MANY_REQUESTS, _SERVER_ERROR = 429, 500


def client(service: str, region: str, *, connections: int = 10) -> Any:
    """Return a boto3 client that gives up within a minute and a half where nobody answers.

    Its endpoint and credentials are those of the environment: on a node, of the instance's role.

    Args:
        service: The service, in boto3's word.
        region: The Region.
        connections: How many calls may be made at the same time.
    """
    import boto3
    import botocore.session
    from botocore.config import Config

    core = botocore.session.Session()
    # At the start of a machine IMDS may need a moment to know the role, and botocore asks once.
    core.set_config_variable("metadata_service_num_attempts", 5)
    core.set_config_variable("metadata_service_timeout", 2)
    session = boto3.session.Session(botocore_session=core, region_name=region)
    return session.client(  # type: ignore[call-overload]  # the service's name is only known when it runs
        service,
        config=Config(
            connect_timeout=5,
            read_timeout=15,
            retries={"mode": "standard", "total_max_attempts": 4},
            max_pool_connections=connections,
        ),
    )


def code_of(error: BaseException) -> str:
    """Return AWS's code of an error, nothing if it is not AWS's."""
    response: dict[str, Any] = getattr(error, "response", None) or {}
    return str(response.get("Error", {}).get("Code", ""))


def passes(error: BaseException) -> bool:
    """Say whether the same call may succeed in a moment: throttled, failed on AWS's side, or did not get there."""
    from botocore import exceptions

    if isinstance(error, exceptions.ClientError):
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        return code_of(error) in _THROTTLED or status == _TOO_MANY_REQUESTS or status >= _SERVER_ERROR
    # The last one: an answer that was cut short.
    return isinstance(error, (exceptions.ConnectionError, exceptions.HTTPClientError, exceptions.IncompleteReadError))


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How often something is tried, beyond what a client does by itself.

    Args:
        tries: How often at most.
        pause_seconds: How long to wait after the first try; each pause is twice as long as the one before, less a
            random part of up to half: nodes that fail together must not come back together.
        longest_seconds: The longest pause.
        wait: Waits for a number of seconds.
        random: Returns a number from 0 to 1.
    """

    tries: int = 6
    pause_seconds: float = 1
    longest_seconds: float = 10
    wait: Callable[[float], object] = time.sleep
    random: Callable[[], float] = random.random

    def pause(self, tried: int) -> None:
        """Wait after the try of a number, counted from 0."""
        seconds = min(self.pause_seconds * 2**tried, self.longest_seconds)
        self.wait(seconds * (1 - self.random() / 2))

    def insist(self, call: Callable[[], _T], enough: Callable[[_T], bool] = lambda _: True) -> _T:
        """Call until the answer is enough; the last answer is taken as it is.

        Errors that pass are tried again; others, and the last one, are raised.
        """
        for tried in range(self.tries - 1):
            try:
                answer = call()
            except Exception as error:
                if not passes(error):
                    raise
            else:
                if enough(answer):
                    return answer
            self.pause(tried)
        return call()


PATIENT: Final = Patience()
"""What is tried for up to 25 seconds."""
