import { z } from "zod";
import { currentCall } from "../shared/current-call.ts";
import { branchParameters } from "../shared/write.ts";

/** Parameters of every call on an upload that exists. */
export const uploadParameters = branchParameters.extend({
  upload_id: z.string().describe("The upload, from multipart_write/create"),
});

/** The caller, to whom its uploads belong. */
export const callerOf = (): string => {
  const caller = currentCall.getStore()?.caller;
  if (caller === undefined) throw new Error("an upload outside of a request");
  return caller;
};
