import { chmodSync, copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NOBODY = 65_534;

/** Runs a program as another user of the machine. @returns what it printed */
export function asNobody(script: string): string {
  // The running one may lie below a home that others cannot enter, such as npx's copy in root's.
  const folder = mkdtempSync(join(tmpdir(), "parley-nobody-"));
  const bun = join(folder, "bun");
  try {
    chmodSync(folder, 0o755);
    copyFileSync(process.execPath, bun);
    chmodSync(bun, 0o755);
    const { success, stdout, stderr } = Bun.spawnSync([bun, "-e", script], { uid: NOBODY, gid: NOBODY, cwd: "/" });
    if (!success) throw new Error(`The other user's script failed: ${stderr}`);
    return stdout.toString().trim();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** For each address "connected", or the system's code for the failure. */
export function connectAsNobody(addresses: readonly string[]): Record<string, string> {
  const places = addresses.map((address) => {
    const [host, port] = address.split(":");
    return [address, address.startsWith("unix:") ? { path: address.slice("unix:".length) } : { host, port }];
  });
  return JSON.parse(
    asNobody(`
      const { connect } = require("node:net");
      const reach = ([address, where]) => new Promise((resolve) => connect(where)
        .on("connect", () => resolve([address, "connected"]))
        .on("error", ({ code }) => resolve([address, code])));
      Promise.all(${JSON.stringify(places)}.map(reach)).then((reached) => {
        console.log(JSON.stringify(Object.fromEntries(reached)));
        process.exit();
      })`),
  );
}
