"""Creates what the program of bootstrap/ asks for in an account of moto's server, with AWS's own Python client.

Arguments: the server's address. Standard input: [{"type": ..., "name": ..., "inputs": {...}, "arn": ...}], where the
ARN is the one that the recorded run made up for a key. Standard output: {"<made-up ARN of a key>": "<ARN of the key>"}.

moto compares the resources of a policy with those of S3 requests, and with "*" for every other service: there the ARNs become "*".
It applies a bucket's Deny without its condition, here on plain HTTP, which moto speaks: the policy is put, and removed."""

import json
import sys

import boto3

address = sys.argv[1]
resources = json.load(sys.stdin)
of_type = lambda suffix: [one for one in resources if one["type"].endswith(suffix)]


def client(service):
    return boto3.client(
        service,
        endpoint_url=address,
        region_name="eu-central-1",
        aws_access_key_id="planted",
        aws_secret_access_key="planted",
    )


s3, kms, iam = client("s3"), client("kms"), client("iam")
for one in of_type(":Bucket"):
    s3.create_bucket(
        Bucket=one["inputs"]["bucket"], CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
for one in of_type(":BucketVersioning"):
    settings = one["inputs"]["versioningConfiguration"]
    s3.put_bucket_versioning(Bucket=one["inputs"]["bucket"], VersioningConfiguration={"Status": settings["status"]})
for one in of_type(":BucketPolicy"):
    s3.put_bucket_policy(Bucket=one["inputs"]["bucket"], Policy=one["inputs"]["policy"])
    s3.delete_bucket_policy(Bucket=one["inputs"]["bucket"])
keys = {
    one["arn"]: kms.create_key(Description=one["inputs"]["description"])["KeyMetadata"]["Arn"] for one in of_type(":Key")
}
for one in of_type(":OpenIdConnectProvider"):
    iam.create_open_id_connect_provider(Url=one["inputs"]["url"], ClientIDList=one["inputs"]["clientIdLists"])
for one in of_type(":Role"):
    inputs = one["inputs"]
    iam.create_role(
        RoleName=inputs["name"],
        AssumeRolePolicyDocument=inputs["assumeRolePolicy"],
        MaxSessionDuration=inputs["maxSessionDuration"],
    )


def loosened(policy):
    document = json.loads(policy)
    for statement in document["Statement"]:
        if not statement["Action"][0].startswith("s3:"):
            statement["Resource"] = ["*"]
    return json.dumps(document)


for one in of_type(":RolePolicy"):
    inputs = one["inputs"]
    iam.put_role_policy(
        RoleName=inputs["role"], PolicyName=inputs["name"], PolicyDocument=loosened(inputs["policy"])
    )
arns = {
    one["inputs"]["name"]: iam.create_policy(
        PolicyName=one["inputs"]["name"], PolicyDocument=loosened(one["inputs"]["policy"])
    )["Policy"]["Arn"]
    for one in of_type(":Policy")
}
for one in of_type(":RolePolicyAttachment"):
    inputs = one["inputs"]
    iam.attach_role_policy(RoleName=inputs["role"], PolicyArn=arns[inputs["policyArn"].split("/")[-1]])
json.dump(keys, sys.stdout)
