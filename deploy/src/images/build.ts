import { join } from "node:path";
import { buildDashboard } from "@parley/dashboard/build.ts";
import { PROGRAMS } from "./programs.ts";

const CHECKOUT = join(import.meta.dir, "../../..");

/**
 * Compiles every program into a binary that needs only the C library.
 * @param folder for the binaries, each named for its program
 * @throws naming the program that does not compile, with the compiler's message
 */
export async function buildBinaries(folder: string): Promise<void> {
  for (const [name, main] of Object.entries(PROGRAMS)) {
    const outfile = join(folder, name);
    // Names stay readable, because Elysia reads the source of its handlers. Split, because a health check loads only its part.
    const args = ["build", "--compile", "--splitting", "--format", "esm", main, "--outfile", outfile];
    const build = Bun.spawn([process.execPath, ...args], {
      cwd: CHECKOUT,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const errors = await new Response(build.stderr).text();
    if ((await build.exited) !== 0) throw new Error(`${name} does not compile: ${errors.trim()}`);
  }
}

if (import.meta.main) {
  const folder = process.argv[2];
  if (!folder) throw new Error("usage: build.ts <folder>");
  await buildBinaries(folder);
  await buildDashboard(join(folder, "dashboard"));
}
