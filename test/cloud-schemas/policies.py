"""Holds IAM policy documents against parliament's copy of AWS's list of actions, resources and condition keys.

Standard input: [{"name": ..., "document": {...}}]. Standard output: [{"name": ..., "issue": ..., "title": ..., "detail": ...}].
"""

import json
import sys

import parliament

# A trust names no resource: it is the role's own.
ROLE = "arn:aws:iam::123456789012:role/trusted"


def identity_form(document):
    """Parliament judges identity policies: a trust or resource policy is judged by what it has in common with one."""
    statements = document["Statement"]
    statements = statements if isinstance(statements, list) else [statements]
    return {
        "Version": document.get("Version", "2012-10-17"),
        "Statement": [
            {"Resource": ROLE, **{key: value for key, value in statement.items() if key != "Principal"}}
            for statement in statements
        ],
    }


findings = []
for policy in json.load(sys.stdin):
    analyzed = parliament.analyze_policy_string(json.dumps(identity_form(policy["document"])))
    for finding in analyzed.findings:
        findings.append(
            {
                "name": policy["name"],
                "issue": finding.issue,
                "title": parliament.enhance_finding(finding).title,
                "detail": str(finding.detail),
            }
        )
json.dump(findings, sys.stdout)
