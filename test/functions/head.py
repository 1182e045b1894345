"""A Ray cluster of one node, until it is ended: the runners of the tests come and go."""

import os
import signal
import socket
import subprocess
import sys
import tempfile


def free_port():
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]


# Sockets have short paths.
home = tempfile.mkdtemp(prefix="ray", dir="/tmp")
gcs, client = free_port(), free_port()
ray = os.path.join(os.path.dirname(sys.executable), "ray")
started = [ray, "start", "--head", "--block", "--num-cpus=2", "--include-dashboard=false", "--object-store-memory=200000000"]
ports = [f"--port={gcs}", f"--ray-client-server-port={client}", "--node-ip-address=127.0.0.1", f"--temp-dir={home}"]
head = subprocess.Popen([*started, *ports], stdout=subprocess.DEVNULL, start_new_session=True)


def end(*_):
    os.killpg(head.pid, signal.SIGTERM)
    head.wait()
    subprocess.run(["rm", "-rf", home], check=False)
    sys.exit()


signal.signal(signal.SIGTERM, end)
while True:
    with socket.socket() as asked:
        if asked.connect_ex(("127.0.0.1", client)) == 0:
            break
    if head.poll() is not None:
        sys.exit("the cluster did not start")
    signal.sigtimedwait([signal.SIGUSR1], 0.2)
print(f"address ray://127.0.0.1:{client}", flush=True)
while True:
    signal.pause()
