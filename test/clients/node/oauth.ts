/**
 * LanceDB's Node client with OAuth's client credentials: reads, and reads again after the token's end. Arguments: address of the
 * service, address of the issuer, seconds of a token.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "@lancedb/lancedb";

const [hostOverride = "", issuerUrl = "", seconds = ""] = process.argv.slice(2);

const connection = await connect("db://dev", {
  hostOverride,
  oauthConfig: {
    issuerUrl,
    clientId: "batch",
    clientSecret: "secret-of-the-batch",
    scopes: ["read", "stats"],
    flow: "client_credentials",
    refreshBufferSecs: 1,
  },
});
const table = await connection.openTable("docs");
for (const wait of [0, Number(seconds) + 1]) {
  await sleep(wait * 1000);
  const rows = await table.query().select(["id"]).limit(3).toArray();
  process.stdout.write(`rows ${rows.length}\n`);
}
process.exit(0);
