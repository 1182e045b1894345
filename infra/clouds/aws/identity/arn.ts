/** Source: docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html */
const partitions: readonly (readonly [RegExp, string])[] = [
  [/^cn-/, "aws-cn"],
  [/^us-gov-/, "aws-us-gov"],
  [/^eusc-/, "aws-eusc"],
  [/^us-isob-/, "aws-iso-b"],
  [/^us-iso-/, "aws-iso"],
];

/** The partition in a region's ARNs. */
export function partitionOf(region: string): string {
  return partitions.find(([pattern]) => pattern.test(region))?.[1] ?? "aws";
}

/** The host of an account's Docker repositories in Amazon ECR. */
export function registryHost({ account, region }: { readonly account: string; readonly region: string }): string {
  return `${account}.dkr.ecr.${region}.${hostSuffixOf(region)}`;
}

/** The DNS suffix of a partition's API endpoints. */
export const hostSuffixOf = (region: string): string =>
  partitionOf(region) === "aws-eusc" ? "amazonaws.eu" : dnsSuffixOf(region);

/** The DNS suffix of a partition's service principals. */
export function dnsSuffixOf(region: string): string {
  return partitionOf(region) === "aws-cn" ? "amazonaws.com.cn" : "amazonaws.com";
}
