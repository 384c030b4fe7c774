"""The WSGI application of the local AWS: its door, its clock, one request at a time, and errors a client can read."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from threading import Lock
from typing import Any
from xml.sax.saxutils import escape

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.wrappers import Response
from werkzeug.wsgi import get_input_stream

from gpu_constructs.local import access
from gpu_constructs.local.clock import clock

_log = logging.getLogger(__name__)

CONTROL_PATH = "/_local_aws"

Control = Callable[[str, str, dict[str, Any]], dict[str, Any]]
"""(method, path below the control path, body) to answer."""


class Application:
    """moto, as a client of AWS would want it.

    Requests are served one at a time: moto keeps its state in plain objects, so that two conditional writes to S3 at
    once, of which AWS lets one win, could both win. A body is read before the turn comes, so nobody waits for a slow
    sender.

    Args:
        control: Answers what is asked below `/_local_aws`, where no key is needed.
        ticks: Called with the time before each request, for what happens on AWS without one (a hook's time-out).
    """

    def __init__(self, control: Control, ticks: Iterable[Callable[[datetime], None]]) -> None:
        self._moto: Any = DomainDispatcherApplication(create_backend_app)
        self._control = control
        self._ticks = tuple(ticks)
        self._turn = Lock()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Serve one request."""
        body = get_input_stream(environ).read()
        environ["wsgi.input"] = io.BytesIO(body)
        environ["CONTENT_LENGTH"] = str(len(body))
        with self._turn:
            response = self._answer(environ, body)
        return response(environ, start_response)

    def _answer(self, environ: dict[str, Any], body: bytes) -> Response:
        try:
            for tick in self._ticks:
                tick(clock.now())
            path = environ["PATH_INFO"]
            if path == CONTROL_PATH or path.startswith(f"{CONTROL_PATH}/"):
                return self._answer_control(environ, body)
            if not access.may_enter(environ):
                return failure(environ, 403, "InvalidClientTokenId", access.REFUSED)
            # Read to the end within the turn: the body may be made while it is read.
            return Response.from_app(self._moto, environ, buffered=True)
        except NotImplementedError as error:
            return failure(environ, 400, "NotImplemented", f"the local AWS cannot do this: {error}")
        except Exception as error:
            _log.exception("%s %s", environ["REQUEST_METHOD"], environ["PATH_INFO"])
            message = f"the local AWS failed ({type(error).__name__}: {error}); its log has the traceback"
            return failure(environ, 500, "InternalFailure", message)

    def _answer_control(self, environ: Mapping[str, Any], body: bytes) -> Response:
        asked = json.loads(body) if body else {}
        path = environ["PATH_INFO"].removeprefix(CONTROL_PATH).strip("/")
        try:
            answer = self._control(environ["REQUEST_METHOD"], path, asked)
        except (KeyError, ValueError) as error:
            return Response(json.dumps({"error": str(error)}), 400, content_type="application/json")
        return Response(json.dumps(answer), content_type="application/json")


def failure(environ: Mapping[str, Any], status: int, code: str, message: str) -> Response:
    """An error in the form that the clients of a service parse."""
    if "HTTP_X_AMZ_TARGET" in environ:
        return Response(
            json.dumps({"__type": code, "message": message}), status, content_type="application/x-amz-json-1.1"
        )
    error = f"<Error><Code>{code}</Code><Message>{escape(message)}</Message></Error>"
    forms = {"ec2": f"<Response><Errors>{error}</Errors></Response>", "s3": error}
    xml = forms.get(access.service_of(environ), f"<ErrorResponse>{error}</ErrorResponse>")
    return Response(xml, status, content_type="text/xml")
