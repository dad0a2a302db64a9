import type { components } from "../../../api/gen/schema.ts";

export type Imported = components["schemas"]["ImportedTools"];
export type ImportedTool = Imported["tools"][number];

/** The names of the secrets that a tool needs. */
export function secretsOf({
  auth,
  headers,
  parameters,
}: Pick<ImportedTool, "auth" | "headers" | "parameters">): string[] {
  const inHeaders = Object.values(headers).flatMap((value) => (typeof value === "string" ? [] : [value.secret]));
  const inParameters = parameters.flatMap(({ secret }) => secret ?? []);
  return [...new Set([...(auth ? [auth.secret] : []), ...inHeaders, ...inParameters])];
}

/** Whether a tool has all words of a search in its name, description, method or address. */
export function isFound({ name, description, method, url }: ImportedTool, search: string): boolean {
  const text = `${name} ${description} ${method} ${url}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
