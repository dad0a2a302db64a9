import { chmodSync } from "node:fs";
import { join } from "node:path";
import { readInstallation } from "./stack/stack-database.ts";
import type { TestStack } from "./stack/test-stack.ts";

/** Kills a stack's own Postgres and keeps it down until told: it starts on no folder that others may write to. */
export function downPostgres(stack: TestStack): { up(): Promise<unknown> } {
  const { postgresFolder } = readInstallation(stack.home);
  const data = join(postgresFolder ?? stack.home.path, "postgres");
  chmodSync(data, 0o777);
  const { back } = stack.kill("postgres");
  return {
    up: () => {
      chmodSync(data, 0o700);
      return back;
    },
  };
}
