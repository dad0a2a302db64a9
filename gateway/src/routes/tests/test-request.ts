import type { CreateTestBody, UpdateTestBody } from "../../schemas/tests/requests.ts";

/** A number, or as what the agent service knows these two. */
export function testedVersionOf(version: number | "published" | "latest" | null | undefined): number | undefined {
  if (version === "published") return 0;
  return typeof version === "number" ? version : undefined;
}

export function microsOf(usd: number | null | undefined): number | undefined {
  return usd == null ? undefined : Math.round(usd * 1_000_000);
}

/** The fields of a test that are kept in the API's form. */
export function definitionOf(body: CreateTestBody | UpdateTestBody): Record<string, unknown> {
  const { name: _, required: __, ...definition } = body;
  return definition;
}
