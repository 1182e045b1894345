"""moto's S3 server on a port that the system chooses, printed as its first line."""

from threading import Lock

from moto.iam.access_control import S3IAMRequest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

# Where moto enforces policies, it also calculates signatures, and not as the SDK does. The keys alone say who asks.
S3IAMRequest.check_signature = lambda self: None
moto = DomainDispatcherApplication(create_backend_app)
writes = Lock()


def one_write_at_a_time(environ, start_response):
    """S3 checks a condition and writes in one step; moto's threads check first and write later."""
    if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
        return moto(environ, start_response)
    with writes:
        return moto(environ, start_response)


class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *args):
        pass


server = make_server("127.0.0.1", 0, one_write_at_a_time, threaded=True, request_handler=Quiet)
print(server.server_port, flush=True)
server.serve_forever()
