import { readFileSync } from "node:fs";
import type { FirstOwner } from "./first-owner.ts";
import { type Home, replaceFile } from "./home.ts";

const FILE = "dev.env";

/** The owner and key of an earlier start. */
export function readDevEnv(home: Home): FirstOwner | null {
  let text: string;
  try {
    text = readFileSync(home.file(FILE), "utf8");
  } catch {
    return null;
  }
  const value = (name: string) => text.match(new RegExp(`^${name}=(.+)$`, "m"))?.[1];
  const [apiKey, ownerId] = [value("PARLEY_API_KEY"), value("PARLEY_OWNER_ID")];
  return apiKey && ownerId ? { apiKey, ownerId } : null;
}

/** For a shell to read: `. dev.env`. Returns its path. */
export function writeDevEnv(home: Home, { apiKey, ownerId }: FirstOwner, url: string, modelUrl: string): string {
  const lines = [
    `PARLEY_URL=${url}`,
    `PARLEY_API_KEY=${apiKey}`,
    `PARLEY_OWNER_ID=${ownerId}`,
    `PARLEY_MODEL_URL=${modelUrl}`,
  ];
  replaceFile(home.file(FILE), `${lines.join("\n")}\n`);
  return home.file(FILE);
}
