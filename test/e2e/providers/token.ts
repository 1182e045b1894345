/** `node token.ts aws|gcp ...`: what the stand-ins for the clouds' own command line tools run. */

import { Denied, eksToken, gkeToken } from "./credentials.ts";
import { Journal } from "./journal.ts";
import { journalPath, readSettings } from "./settings.ts";

const [kind, ...args] = process.argv.slice(2);
const settings = readSettings(process.env);
try {
  const items = () => new Journal(journalPath(settings.folder, "aws")).items();
  console.log(kind === "aws" ? eksToken(args, items(), settings) : gkeToken(settings));
} catch (error) {
  if (!(error instanceof Denied)) throw error;
  console.error(error.message);
  process.exitCode = 254;
}
