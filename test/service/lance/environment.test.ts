import { expect, test } from "vitest";
import { removeStrayOptions } from "../../../service/lance/connection/environment.ts";

test("variables that are storage options by accident are removed, those of the clouds and all others are kept", () => {
  const kept = {
    AWS_REGION: "eu-central-1",
    AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/x",
    AWS_WEB_IDENTITY_TOKEN_FILE: "/token",
    AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://169.254.170.23/v1/credentials",
    GOOGLE_APPLICATION_CREDENTIALS: "/key.json",
    HTTPS_PROXY: "http://proxy",
    LAKEHEAD_DATABASE: "s3://lake",
    PATH: "/bin",
  };
  const environment = { ...kept, TOKEN: "x", base_url: "x", Endpoint: "x", CONDITIONAL_PUT: "disabled", REGION: "x" };
  expect(removeStrayOptions(environment)).toEqual(["TOKEN", "base_url", "Endpoint", "CONDITIONAL_PUT", "REGION"]);
  expect(environment).toEqual(kept);
});
