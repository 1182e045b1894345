"""LanceDB's Python client with each of its OAuth flows: connect, read, and read again after the token's end.

Arguments: address of the service, address of the issuer, port of the redirect, audience, seconds of a token, flow.
"""

import asyncio
import sys

import lancedb
from lancedb.remote.oauth import ClientAuthMethod, OAuthConfig, OAuthFlowType

ENDPOINT, ISSUER, PORT, AUDIENCE, SECONDS, FLOW = sys.argv[1:]
SHARED = {"issuer_url": ISSUER, "resource": AUDIENCE, "refresh_buffer_secs": 1}
PERSON = ["openid", "offline_access", "read", "stats"]

CONFIGS = {
    "client credentials": lambda: OAuthConfig(
        client_id="batch", client_secret="secret-of-the-batch", scopes=["read", "stats"], **SHARED
    ),
    "a wrong secret": lambda: OAuthConfig(client_id="batch", client_secret="wrong", scopes=["read", "stats"], **SHARED),
    "no scope of the service": lambda: OAuthConfig(
        client_id="batch", client_secret="secret-of-the-batch", scopes=["stats"], **SHARED
    ),
    "authorization code": lambda: OAuthConfig(
        client_id="person",
        scopes=PERSON,
        flow=OAuthFlowType.AUTHORIZATION_CODE,
        client_auth_method=ClientAuthMethod.NONE,
        callback_port=int(PORT),
        **SHARED,
    ),
    "device code": lambda: OAuthConfig(
        client_id="terminal",
        scopes=PERSON,
        flow=OAuthFlowType.DEVICE_CODE,
        client_auth_method=ClientAuthMethod.NONE,
        **SHARED,
    ),
}


async def main() -> None:
    db = await lancedb.connect_async("db://dev", host_override=ENDPOINT, oauth_config=CONFIGS[FLOW]())
    table = await db.open_table("docs")
    for wait in (0, float(SECONDS) + 1):
        await asyncio.sleep(wait)
        rows = await table.query().select(["id"]).limit(3).to_list()
        print("rows", len(rows), flush=True)


asyncio.run(main())
