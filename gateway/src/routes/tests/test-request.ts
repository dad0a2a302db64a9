import type { CreateTestBody, UpdateTestBody } from "../../schemas/tests/requests.ts";

export function microsOf(usd: number | null | undefined): number | undefined {
  return usd == null ? undefined : Math.round(usd * 1_000_000);
}

/** The fields of a test that are kept in the API's form. */
export function definitionOf(body: CreateTestBody | UpdateTestBody): Record<string, unknown> {
  const { name: _, required: __, ...definition } = body;
  return definition;
}
