"""Deletes objects one by one. Arguments: address, key id, secret, bucket, keys. Prints JSON: key -> null or the error's code."""

import json
import sys

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

address, key_id, secret, bucket, *keys = sys.argv[1:]
client = boto3.client(
    "s3",
    endpoint_url=address,
    aws_access_key_id=key_id,
    aws_secret_access_key=secret,
    region_name="us-east-1",
    config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
)


def fault(key: str) -> str | None:
    try:
        client.delete_object(Bucket=bucket, Key=key)
    except ClientError as error:
        return error.response["Error"]["Code"]
    return None


print(json.dumps({key: fault(key) for key in keys}))
