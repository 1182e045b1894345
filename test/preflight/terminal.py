"""Runs a command in a terminal of its own, and types an answer for each question: {"command": […], "answers": {question: answer}}."""

import json
import os
import pty
import re
import select
import sys
import time

task = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(task["command"][0], task["command"])
waiting = dict(task["answers"])
text = ""
end = time.monotonic() + 120
while time.monotonic() < end:
    if select.select([terminal], [], [], 1)[0]:
        try:
            text += os.read(terminal, 65536).decode(errors="replace")
        except OSError:
            break
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    for question in [question for question in waiting if question in plain]:
        os.write(terminal, (waiting.pop(question) + "\r").encode())
print(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text))
print("not asked:", json.dumps(list(waiting)))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
