"""Runs one stack's program with the real client, up to the creation of its RayCluster, and prints what it did as JSON.

Kubernetes, STS and EKS are one HTTP server here, which records each call. The database is a local folder.
"""

import ast
import importlib
import inspect
import json
import os
import runpy
import shutil
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

given = json.load(sys.stdin)
seen = {"calls": [], "roles": [], "posted": None, "database": None}

ended = threading.Event()
IDENTITY = (
    "<GetCallerIdentityResponse><GetCallerIdentityResult><Account>111122223333</Account><Arn>a</Arn><UserId>u</UserId>"
    "</GetCallerIdentityResult></GetCallerIdentityResponse>"
)
ASSUMED = (
    "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>k</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
    "<SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult>"
    "</AssumeRoleResponse>"
)


class Cloud(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json"):
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        path = self.path.split("?")[0]
        seen["calls"].append(f"GET {path}")
        if path.startswith("/clusters/"):
            server = f"http://127.0.0.1:{self.server.server_port}"
            cluster = {"endpoint": server, "certificateAuthority": {"data": ""}}
            return self.answer(200, {"cluster": cluster})
        if "/serviceaccounts/" in path:
            annotations = {"eks.amazonaws.com/role-arn": "a"}
            metadata = {"name": path.rsplit("/", 1)[1], "annotations": annotations}
            return self.answer(200, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
        return self.answer(404, {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        path = self.path.split("?")[0]
        if path == "/":
            call = {key: values[0] for key, values in parse_qs(body).items()}
            if call["Action"] == "AssumeRole":
                seen["roles"].append(call["RoleArn"])
            return self.answer(200, ASSUMED if call["Action"] == "AssumeRole" else IDENTITY, "text/xml")
        seen["calls"].append(f"POST {path}")
        if path.endswith("/localsubjectaccessreviews"):
            return self.answer(201, {**json.loads(body), "status": {"allowed": True}})
        if path.endswith("/rayclusters"):
            seen["posted"] = json.loads(body)
            ended.set()
        return self.answer(422, {"kind": "Status", "status": "Failure", "reason": "Invalid", "code": 422})


def unknown_names(text):
    """Imports, attributes and keywords of the program that the installed client does not have."""
    faults, names = [], {}
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name] = importlib.import_module(alias.name)
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module)
            for alias in node.names:
                if hasattr(module, alias.name):
                    names[alias.asname or alias.name] = getattr(module, alias.name)
                else:
                    faults.append(f"{node.module} has no {alias.name}")
    from geneva.runners.ray.raycluster import RayCluster
    from geneva.table import Table

    def target(function):
        if isinstance(function, ast.Name):
            return names.get(function.id)
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            owner = {"database": names["geneva"].db.Connection, "table": Table}.get(
                function.value.id, names.get(function.value.id)
            )
            return getattr(owner, function.attr, None) if owner is not None else None
        return None

    checked = 0
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.keywords:
            continue
        called = target(node.func)
        if called is None:
            continue
        known = inspect.signature(called).parameters
        if called is names.get("ray_cluster"):
            known = {**known, **inspect.signature(RayCluster).parameters}
            known.pop("ray_cluster_kwargs", None)
        for keyword in node.keywords:
            checked += 1
            if keyword.arg not in known:
                faults.append(f"{ast.unparse(node.func)} has no {keyword.arg}")
    return faults, checked


server = ThreadingHTTPServer(("127.0.0.1", 0), Cloud)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"
folder = tempfile.mkdtemp(prefix="lakehead-geneva-")
os.chdir(folder)


def file(name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as out:
        out.write(text)
    return path


context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
kubeconfig = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "c",
    "contexts": [context],
    "clusters": [{"name": "c", "cluster": {"server": address}}],
    "users": [{"name": "u", "user": {"token": "t"}}],
}
os.environ.update(
    {
        "KUBECONFIG": file("kubeconfig", json.dumps(kubeconfig)),
        "AWS_CONFIG_FILE": file("config", given["credentials"]),
        "AWS_SHARED_CREDENTIALS_FILE": file("credentials", "[default]\naws_access_key_id = k\naws_secret_access_key = s\n"),
        "AWS_ENDPOINT_URL_STS": address,
        "AWS_ENDPOINT_URL_EKS": address,
        "AWS_EC2_METADATA_DISABLED": "true",
        **({"AWS_PROFILE": given["profile"]} if given.get("profile") else {}),
    }
)

import geneva  # noqa: E402

seen["faults"], seen["keywords"] = unknown_names(given["snippet"])
connect = geneva.connect


def local(uri, **options):
    seen["database"] = {"uri": uri, **options}
    return connect(os.path.join(folder, "database"))


geneva.connect = local
seen["error"] = None
program = file("program.py", given["snippet"])


def run():
    try:
        runpy.run_path(program)
    except BaseException as error:  # noqa: BLE001
        if seen["posted"] is None:
            seen["error"] = f"{type(error).__name__}: {error}"[:600]
    ended.set()


# In a thread: the client tries a refused creation again for minutes, and nothing after the first try is of interest.
threading.Thread(target=run, daemon=True).start()
ended.wait()

from geneva.jobs.config import JobConfig  # noqa: E402
from geneva.runners.ray.admission import (  # noqa: E402
    AdmissionDecision,
    ClusterResources,
    NodeCapacity,
    calculate_job_resources,
    check_admission,
)


@geneva.udf
def default(n: int) -> int:
    return n


memory = JobConfig.get().applier_default_memory_bytes
job = calculate_job_resources(default, concurrency=1, default_memory_bytes=memory)
seen["job"] = {
    "function": {"cpus": job.udf_cpus, "memory": job.udf_memory},
    "cpus": job.total_cpus,
    "memory": job.total_memory,
}


def refuses(workers):
    """Whether the client refuses the job on a cluster of these workers, at its largest."""
    cpus, memory, most = workers["cpus"], workers["memory"], workers["maxReplicas"]
    cluster = ClusterResources(
        total_cpus=0,
        total_gpus=0,
        total_memory=0,
        available_cpus=0,
        available_gpus=0,
        available_memory=0,
        is_kuberay=True,
        max_scale_cpus=cpus * most,
        max_scale_gpus=0,
        max_scale_memory=memory * most,
        node_capacities=[NodeCapacity(cpus=cpus, gpus=0, memory=memory)],
    )
    return check_admission(job, cluster)[0] == AdmissionDecision.REJECT


seen["refused"] = [refuses(workers) for workers in given["workers"]]
shutil.rmtree(folder, ignore_errors=True)
print(json.dumps(seen))
sys.stdout.flush()
os._exit(0)
