const NOBODY = 65_534;

/** Runs a program as another user of the machine. @returns what it printed */
export function asNobody(script: string): string {
  const identity = { uid: NOBODY, gid: NOBODY, cwd: "/" };
  return Bun.spawnSync([process.execPath, "-e", script], identity).stdout.toString().trim();
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
