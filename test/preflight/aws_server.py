"""moto's server of all its services on a port that the system chooses, printed as its first line.

moto carries the quotas of the service vpc only. The argument is a JSON object of quota codes to values, which are added in moto's own
format."""

import json
import sys

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.servicequotas.models import ServiceQuotasBackend
from moto.servicequotas.exceptions import NoSuchResource
from werkzeug.serving import WSGIRequestHandler, make_server

values = json.loads(sys.argv[1])
original = ServiceQuotasBackend.get_service_quota


def get_service_quota(self, service_code, quota_code):
    if quota_code not in values and service_code == "vpc":
        return original(self, service_code, quota_code)
    if quota_code not in values:
        raise NoSuchResource
    return {"ServiceCode": service_code, "QuotaCode": quota_code, "Unit": "None", "Value": values[quota_code]}


ServiceQuotasBackend.get_service_quota = get_service_quota


class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *args):
        pass


server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True, request_handler=Quiet)
print(server.server_port, flush=True)
server.serve_forever()
