"""Prints what others know of the clouds: moto's answer of DescribeInstanceTypes, botocore's regions, and the locations that
Google's discovery documents list. Each argument names the part to print: instance-types, aws-regions, google-locations or
pull-only, the actions of the AWS managed policy that lets nodes pull images.
"""

import gzip
import ipaddress
import json
import pathlib
import sys


def instance_types():
    import moto

    path = pathlib.Path(moto.__file__).parent / "ec2" / "resources" / "instance_types.json.gz"
    types = json.loads(gzip.decompress(path.read_bytes()))
    return {
        name: {
            "cpus": facts["VCpuInfo"]["DefaultVCpus"],
            "mebibytes": facts["MemoryInfo"]["SizeInMiB"],
            "gpus": sum(gpu["Count"] for gpu in facts.get("GpuInfo", {}).get("Gpus", [])),
            "maker": "".join(gpu["Manufacturer"] for gpu in facts.get("GpuInfo", {}).get("Gpus", [])),
            "architectures": facts["ProcessorInfo"]["SupportedArchitectures"],
        }
        for name, facts in types.items()
    }


def pull_only():
    from moto.iam.aws_managed_policies import aws_managed_policies_data

    policy = json.loads(aws_managed_policies_data)["AmazonEC2ContainerRegistryPullOnly"]["Document"]
    return [action for statement in policy["Statement"] for action in statement["Action"]]


def aws_regions():
    import botocore

    path = pathlib.Path(botocore.__file__).parent / "data" / "endpoints.json"
    return {region: part["partition"] for part in json.loads(path.read_text())["partitions"] for region in part["regions"]}


def google_locations():
    from googleapiclient import discovery_cache

    folder = pathlib.Path(discovery_cache.__file__).parent / "documents"
    return sorted({endpoint["location"] for endpoint in json.loads((folder / "run.v1.json").read_text())["endpoints"]})


def internet(networks):
    """Those of the networks whose addresses are global unicast ones."""
    return [text for text in networks if (network := ipaddress.ip_network(text)).is_global and not network.is_multicast]


parts = {"instance-types": instance_types, "pull-only": pull_only, "aws-regions": aws_regions, "google-locations": google_locations}
name, *rest = sys.argv[1:]
json.dump(internet(rest) if name == "internet" else parts[name](), sys.stdout)
