"""moto's server, which compares each request with the caller's policies, but not its signature.

moto calculates other signatures than AWS's Go client for requests whose query has encoded slashes."""

import pathlib
import runpy

from moto.iam.access_control import IAMRequestBase

IAMRequestBase.check_signature = lambda self: None
runpy.run_path(str(pathlib.Path(__file__).parent.parent / "preflight" / "aws_server.py"))
