import { basename, relative } from "node:path";
import type { Environment } from "./connection.ts";

/** The command that runs this program, for examples and advice. */
export function invocation(env: Environment): string {
  // Both package managers pass a script its name.
  if (env.npm_lifecycle_event === "parley") return "bun run parley";
  if (Bun.main.startsWith("/$bunfs/")) return basename(process.execPath);
  return `bun ${relative(process.cwd(), Bun.main)}`;
}
