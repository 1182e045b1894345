/**
 * Environment variables that the native library reads as storage options although their names do not say so: those of
 * the clouds without their prefix. The prefixed ones (`AWS_REGION`, `GOOGLE_APPLICATION_CREDENTIALS`) are kept.
 */
const strayNames: ReadonlySet<string> = new Set([
  ...["access_key_id", "secret_access_key", "session_token", "token", "default_region", "region"],
  ...["bucket", "bucket_name", "endpoint", "endpoint_url", "endpoint_url_sts", "virtual_hosted_style_request"],
  ...["s3_express", "imdsv1_fallback", "metadata_endpoint", "unsigned_payload", "checksum_algorithm"],
  ...["container_credentials_relative_uri", "container_credentials_full_uri", "container_authorization_token_file"],
  ...["web_identity_token_file", "role_arn", "role_session_name", "skip_signature", "copy_if_not_exists"],
  // With or without the prefix: without conditional puts, two clients could create the same tag.
  ...[
    "conditional_put",
    "aws_conditional_put",
    "disable_tagging",
    "request_payer",
    "server_side_encryption",
    "sse_kms_key_id",
  ],
  ...["sse_bucket_key_enabled", "sse_customer_key_base64"],
  ...["service_account", "service_account_path", "service_account_key", "application_credentials", "base_url"],
  ...["allow_http", "allow_invalid_certificates", "connect_timeout", "read_timeout", "timeout", "user_agent"],
  ...["default_content_type", "http1_only", "http2_only", "http2_keep_alive_interval", "http2_keep_alive_timeout"],
  ...["http2_keep_alive_while_idle", "http2_max_frame_size", "pool_idle_timeout", "pool_max_idle_per_host"],
  ...["proxy_url", "proxy_ca_certificate", "proxy_excludes", "randomize_addresses"],
]);

/**
 * Removes variables that would change the access to the store unintentionally: `TOKEN` would be sent with every request
 * to S3, `BASE_URL` would replace Google's address. Storage options come only from the service's configuration.
 * @returns the removed names.
 */
export const removeStrayOptions = (environment: Record<string, string | undefined>): readonly string[] => {
  const names = Object.keys(environment).filter((name) => strayNames.has(name.toLowerCase()));
  for (const name of names) delete environment[name];
  return names;
};
