"""Opens a database on Google Cloud Storage with credentials that impersonate, and prints the error."""

import json
import os
import sys
import tempfile

import lancedb

source = {"type": "authorized_user", "client_id": "a", "client_secret": "b", "refresh_token": "c"}
url = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b.iam.gserviceaccount.com:generateAccessToken"
impersonated = {
    "type": "impersonated_service_account",
    "service_account_impersonation_url": url,
    "delegates": [],
    "source_credentials": source,
}
with tempfile.NamedTemporaryFile("w", suffix=".json") as credentials:
    json.dump(impersonated, credentials)
    credentials.flush()
    os.environ["GOOGLE_APPLICATION_CREDENTIALS"] = credentials.name
    try:
        lancedb.connect("gs://lakehead-no-such-bucket/lance", storage_options=json.loads(sys.argv[1])).table_names()
        print("no error")
    except Exception as error:  # noqa: BLE001
        print(str(error)[:400])
