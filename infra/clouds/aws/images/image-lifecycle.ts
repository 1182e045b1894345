/** Lifecycle policies of ECR. A repository has one. */

const rule = (description: string, selection: Readonly<Record<string, string | number>>) => ({
  rules: [{ rulePriority: 1, description, selection: { tagStatus: "any", ...selection }, action: { type: "expire" } }],
});

export const keepNewest = (count: number) =>
  rule(`Keep the newest ${count} images`, { countType: "imageCountMoreThan", countNumber: count });

/** A cache gets an expired image again at the next pull. */
export const expireAfter = (days: number) =>
  rule(`Expire images after ${days} days`, { countType: "sinceImagePushed", countUnit: "days", countNumber: days });
