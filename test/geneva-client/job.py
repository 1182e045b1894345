"""Runs one stack's program as pasted, to its end, and prints what it did as JSON.

The RayCluster that it creates is one node of Ray's own processes on this machine, with the resources that KubeRay gives one
worker of the first group, its environment, and the head's markers. Kubernetes is an HTTP server here. Port 10001 must be free.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

given = json.load(sys.stdin)
seen = {"created": False, "deleted": False, "exit": None}
folder = tempfile.mkdtemp(prefix="lakehead-geneva-job-")
session = os.path.join(folder, "session")
programs = os.path.dirname(sys.executable)
environment = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": folder, "LANG": "C.UTF-8"}
ray = []


def start_ray(spec):
    group = spec["workerGroupSpecs"][0]
    parameters = [part["rayStartParams"] for part in (spec["headGroupSpec"], group)]
    resources = {}
    for one in parameters:
        resources.update(json.loads(json.loads(one["resources"])))
    (container,) = group["template"]["spec"]["containers"]
    arguments = {
        "--port": 0,
        "--num-cpus": parameters[1]["num-cpus"],
        "--memory": container["resources"]["limits"]["memory"],
        "--resources": json.dumps(resources),
        "--object-store-memory": 200_000_000,
        "--include-dashboard": "false",
        "--temp-dir": session,
    }
    pod = dict(environment)
    for variable in container.get("env", []):
        pod[variable["name"]] = variable["value"]
        for mounted, here in given.get("mounts", {}).items():
            pod[variable["name"]] = pod[variable["name"]].replace(mounted, here)
    command = [os.path.join(programs, "ray"), "start", "--head", "--block", "--disable-usage-stats"]
    with open(os.path.join(folder, "ray.log"), "a") as log:
        # A busy machine can take longer than Ray's fixed 30 seconds for a raylet: the first try is not the last.
        loop = 'for _ in 1 2 3; do "$@" && break; done'
        command = ["sh", "-c", loop, "sh", *command, *(f"{key}={value}" for key, value in arguments.items())]
        ray.append(subprocess.Popen(command, env=pod, stdout=log, stderr=log, start_new_session=True))


class Kubernetes(BaseHTTPRequestHandler):
    created = None

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        path = self.path.split("?")[0]
        name = path.rsplit("/", 1)[1]
        if "/serviceaccounts/" in path:
            metadata = {"name": name, "annotations": {"eks.amazonaws.com/role-arn": "a"}}
            return self.answer(200, {"kind": "ServiceAccount", "metadata": metadata})
        if "/rayclusters/" in path and Kubernetes.created is not None:
            status = {"head": {"podIP": "127.0.0.1", "podName": "head"}}
            return self.answer(200, {**Kubernetes.created, "status": status})
        if "/pods/" in path:
            container = {"name": "ray-head", "ready": True, "restartCount": 0, "image": "", "imageID": "", "state": {}}
            status = {"phase": "Running", "podIP": "127.0.0.1", "containerStatuses": [container]}
            return self.answer(200, {"kind": "Pod", "metadata": {"name": name}, "status": status})
        if name in ("pods", "nodes"):
            return self.answer(200, {"kind": "List", "metadata": {}, "items": []})
        return self.answer(404, {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.split("?")[0].endswith("/localsubjectaccessreviews"):
            return self.answer(201, {**body, "status": {"allowed": True}})
        Kubernetes.created = body
        seen["created"] = True
        start_ray(body["spec"])
        return self.answer(201, body)

    def do_DELETE(self):
        Kubernetes.created = None
        seen["deleted"] = True
        return self.answer(200, {"kind": "Status", "status": "Success"})


def write(name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as out:
        out.write(text)
    return path


server = ThreadingHTTPServer(("127.0.0.1", 0), Kubernetes)
threading.Thread(target=server.serve_forever, daemon=True).start()
kubeconfig = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "c",
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
    "users": [{"name": "u", "user": {"token": "t"}}],
}
program = write("program.py", given["snippet"])
client = {**environment, **given["environment"], "KUBECONFIG": write("kubeconfig", json.dumps(kubeconfig))}
output = os.path.join(folder, "program.log")
try:
    with open(output, "w") as log:
        command = [sys.executable, program]
        seen["exit"] = subprocess.call(command, cwd=folder, env=client, stdout=log, stderr=log, timeout=given["seconds"])
except subprocess.TimeoutExpired:
    seen["exit"] = f"still ran after {given['seconds']} s"
finally:
    for process in ray:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
with open(output) as log:
    seen["output"] = log.read()
shutil.rmtree(folder, ignore_errors=True)
print(json.dumps(seen))
sys.stdout.flush()
os._exit(0)
