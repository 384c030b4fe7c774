"""A metadata service that can be told what to say: what it answers to which request, and when it fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from types import TracebackType
from typing import Any

from gpu_constructs.local.imds import metadata
from gpu_constructs.local.imds.answers import Answers, Question, error
from gpu_constructs.local.imds.facts import InstanceFacts
from gpu_constructs.local.imds.log import Request
from gpu_constructs.local.imds.script import parse
from gpu_constructs.local.imds.server import Asked, Hang, Outcome, Reply, Reset, Server
from gpu_constructs.local.imds.state import TOKEN, Fault, State

_HOPS_TO_A_CONTAINER = 2


class FakeImds:
    """A metadata service on loopback. A context manager, which ends whatever still hangs when it is left.

    Args:
        facts: The instance that it speaks of.
        script: What happens when, as docs/local_aws.md says; seconds count from the start of the service.
        address: Where it listens: a loopback address, or the one that EC2's own has.
        port: The port; 0 takes any free one.
        clock: Seconds since some moment. A test passes one that it moves.
        now: The time of day in UTC, which it begins with and its clock carries on.
        on_request: Told of each request.

    Raises:
        ValueError: The script is wrong, every entry of it named, or the address is one that others could reach.
    """

    def __init__(
        self,
        facts: InstanceFacts,
        script: Iterable[Mapping[str, Any]] = (),
        *,
        address: str = "127.0.0.1",
        port: int = 0,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
        on_request: Callable[[Request], None] | None = None,
    ) -> None:
        self._clock, self._now, self._on_request = clock, now, on_request
        self._zero: float | None = None  # until it starts, no time passes
        self._started = now()
        self._known_paths = metadata.known_paths(facts)
        self._entries = parse(script, self._known_paths)
        self._spent: set[Fault] = set()  # faults that were for one request, and have met it
        self._answers = Answers(facts, self._wall)
        self._lock = threading.RLock()
        self._requests: list[Request] = []
        self._server = Server(self._answer, address, port)

    @property
    def endpoint(self) -> str:
        """Its URL, for AWS_EC2_METADATA_SERVICE_ENDPOINT."""
        return self._server.endpoint

    @property
    def requests(self) -> list[Request]:
        """The requests so far."""
        with self._lock:
            return list(self._requests)

    def happen(self, **entry: Any) -> None:
        """Have an entry of a script happen now, without `at`; "in" and "for" are given by `**{"for": 2}`.

        Raises:
            ValueError: It is wrong.
        """
        with self._lock:
            self._entries += parse([{"at": self._elapsed(), **entry}], self._known_paths)

    def set_lifecycle_state(self, text: str) -> None:
        """Have Auto Scaling take the instance to a state: "InService", "Terminated", ..."""
        self.happen(do="lifecycle_state", state=text)

    def notice(self, in_seconds: float = 120, action: str = "terminate") -> None:
        """Have EC2 announce that it takes the instance."""
        self.happen(do="notice", action=action, **{"in": in_seconds})

    def start(self) -> None:
        """Answer requests; the seconds of the script begin to count."""
        self._zero, self._started = self._clock(), self._now()
        self._server.start()

    def close(self) -> None:
        """Answer no more. No thread and no connection is left."""
        self._server.close()

    def __enter__(self) -> FakeImds:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _elapsed(self) -> float:
        return 0.0 if self._zero is None else self._clock() - self._zero

    def _wall(self, elapsed: float) -> datetime:
        return self._started + timedelta(seconds=elapsed)

    def _state(self, now: float) -> State:
        state = State()
        for entry in sorted(self._entries, key=lambda entry: entry.at):
            if entry.at <= now and not isinstance(entry, Fault):
                entry.apply(state)
        return state

    def _answer(self, asked: Asked) -> Outcome:
        question = Question.of(asked)
        with self._lock:
            now = self._elapsed()
            outcome, fault = self._outcome(question, now)
            request = Request(
                at=now,
                method=question.method,
                path=question.path,
                status=int(outcome.status) if isinstance(outcome, Reply) else None,
                fault=fault,
                connection=asked.connection,
            )
            self._requests.append(request)
            if self._on_request:
                self._on_request(request)
        return outcome

    def _outcome(self, question: Question, now: float) -> tuple[Outcome, str | None]:
        fault = self._fault(question.path, now)
        if fault is not None:
            return self._failing(fault, question), fault.kind
        if question.path == TOKEN and not self._reaches_containers():
            return Hang(self._reaches_containers, lambda: self._reply(question)), "hop_limit"
        return self._reply(question), None

    def _reaches_containers(self) -> bool:
        return self._state(self._elapsed()).hop_limit >= _HOPS_TO_A_CONTAINER

    def _fault(self, path: str, now: float) -> Fault | None:
        """The fault that a request meets: of several the one that began last, of these the first in the script."""
        met = [
            one for one in self._entries if isinstance(one, Fault) and one.hits(path, now) and one not in self._spent
        ]
        if not met:
            return None
        fault = max(met, key=lambda one: one.at)
        if fault.for_seconds is None:
            self._spent.add(fault)
        return fault

    def _failing(self, fault: Fault, question: Question) -> Outcome:
        if fault.kind == "status":
            return error(fault.code)
        if fault.kind == "hang":
            return Hang(lambda: self._elapsed() >= fault.ends, lambda: self._reply(question))
        if fault.kind == "truncate":
            return replace(self._reply(question), cut=True)
        return Reset()

    def _reply(self, question: Question) -> Reply:
        with self._lock:
            now = self._elapsed()
            return self._answers.reply(question, self._state(now), now)
