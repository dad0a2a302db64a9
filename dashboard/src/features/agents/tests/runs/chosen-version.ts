import type { Schema } from "../../../../api/client.ts";

/** Which version of an agent is run: the newest, the published one, or one by its number. */
export interface ChosenVersion {
  which: "latest" | "published" | "number";
  number: number | null;
}

export const LATEST: ChosenVersion = { which: "latest", number: null };

export function numbered(number: number): ChosenVersion {
  return { which: "number", number };
}

/** As the API names it; null for a number that was not entered. */
export function versionOf({ which, number }: ChosenVersion): Schema["RunTestsRequest"]["agent_version"] {
  return which === "number" ? number : which;
}
