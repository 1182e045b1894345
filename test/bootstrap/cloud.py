"""One operation of the AWS provider on moto's server, with AWS's own Python client and the caller's rights.

Arguments: create or read, the resource's type and its id. Standard input: its inputs. The requests are those of the provider
that Terraform and Pulumi share; the refresh of a bucket begins with HeadBucket, which needs s3:ListBucket
(hashicorp/terraform-provider-aws, internal/service/s3/bucket.go)."""

import json
import sys

import boto3
from botocore.exceptions import ClientError

operation, kind, name = sys.argv[1:]
inputs = json.load(sys.stdin)
s3, iam, kms, logs = (boto3.client(service) for service in ("s3", "iam", "kms", "logs"))
bucket = {"Bucket": inputs.get("bucket")}
# Requests whose error says that a bucket has no such setting.
absent = {
    "NoSuchBucketPolicy",
    "NoSuchCORSConfiguration",
    "NoSuchWebsiteConfiguration",
    "NoSuchLifecycleConfiguration",
    "NoSuchTagSet",
    "ObjectLockConfigurationNotFoundError",
    "ReplicationConfigurationNotFoundError",
    "ServerSideEncryptionConfigurationNotFoundError",
}


def create_bucket():
    s3.create_bucket(**bucket, CreateBucketConfiguration={"LocationConstraint": s3.meta.region_name})


def read_bucket():
    settings = "policy acl cors website versioning accelerate_configuration request_payment logging"
    settings += " lifecycle_configuration replication encryption tagging location"
    requests = [s3.head_bucket, s3.get_object_lock_configuration]
    for request in requests + [getattr(s3, f"get_bucket_{setting}") for setting in settings.split()]:
        try:
            request(Bucket=name)
        except ClientError as error:
            if error.response["Error"]["Code"] not in absent:
                raise


def setting(put, get):
    return lambda: put(), lambda: get(**bucket)


def encryption():
    algorithm = inputs["rules"][0]["applyServerSideEncryptionByDefault"]["sseAlgorithm"]
    rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": algorithm}}
    s3.put_bucket_encryption(**bucket, ServerSideEncryptionConfiguration={"Rules": [rule]})


def ownership():
    rules = [{"ObjectOwnership": inputs["rule"]["objectOwnership"]}]
    s3.put_bucket_ownership_controls(**bucket, OwnershipControls={"Rules": rules})


def public_access():
    names = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
    block = {key: inputs[key[0].lower() + key[1:]] for key in names}
    s3.put_public_access_block(**bucket, PublicAccessBlockConfiguration=block)


def versioning():
    status = {"Status": inputs["versioningConfiguration"]["status"]}
    s3.put_bucket_versioning(**bucket, VersioningConfiguration=status)


def lifecycle():
    rule = {
        "ID": "noncurrent",
        "Status": "Enabled",
        "Filter": {"Prefix": ""},
        "NoncurrentVersionExpiration": {"NoncurrentDays": 7},
    }
    s3.put_bucket_lifecycle_configuration(**bucket, LifecycleConfiguration={"Rules": [rule]})


def read_role():
    iam.get_role(RoleName=name)
    iam.list_role_policies(RoleName=name)
    iam.list_attached_role_policies(RoleName=name)


def create_role():
    iam.create_role(RoleName=name, AssumeRolePolicyDocument=inputs["assumeRolePolicy"])


def put_role_policy():
    iam.put_role_policy(RoleName=inputs["role"], PolicyName=inputs["name"], PolicyDocument=inputs["policy"])


def create_group():
    logs.create_log_group(logGroupName=inputs["name"])
    logs.put_retention_policy(logGroupName=inputs["name"], retentionInDays=int(inputs["retentionInDays"]))


# To create and to read each type. A bucket's policy denies plain HTTP, which moto speaks, and moto ignores the condition.
operations = {
    "aws:s3/bucket:Bucket": (create_bucket, read_bucket),
    "aws:s3/bucketVersioning:BucketVersioning": setting(versioning, s3.get_bucket_versioning),
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": setting(
        encryption, s3.get_bucket_encryption
    ),
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": setting(ownership, s3.get_bucket_ownership_controls),
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": setting(public_access, s3.get_public_access_block),
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": setting(
        lifecycle, s3.get_bucket_lifecycle_configuration
    ),
    "aws:s3/bucketPolicy:BucketPolicy": (lambda: None, lambda: None),
    "aws:iam/role:Role": (create_role, read_role),
    "aws:iam/rolePolicy:RolePolicy": (
        put_role_policy,
        lambda: iam.get_role_policy(RoleName=inputs["role"], PolicyName=inputs["name"]),
    ),
    "aws:cloudwatch/logGroup:LogGroup": (
        create_group,
        lambda: logs.describe_log_groups(logGroupNamePrefix=inputs["name"]),
    ),
}
try:
    operations[kind][0 if operation == "create" else 1]()
except ClientError as error:
    code, name = error.response["Error"]["Code"], error.operation_name
    sys.exit(f"AccessDenied: {name}" if code in ("403", "AccessDenied") else f"{code}: {name}: {error}")
