"""What AWS's own library reads in a shared configuration file: the roles that its profiles assume, one after another.

Arguments: moto's address and the file. Standard output: {"<profile>": "<ARN of the caller>"}."""

import json
import os
import sys

os.environ["AWS_ENDPOINT_URL"], os.environ["AWS_CONFIG_FILE"] = sys.argv[1:]
os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull

from botocore.session import Session

callers = {}
for profile in Session().available_profiles:
    callers[profile] = Session(profile=profile).create_client("sts").get_caller_identity()["Arn"]
json.dump(callers, sys.stdout)
