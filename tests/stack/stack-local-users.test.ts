import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { listeningPorts } from "../kit/deploy/listening.ts";
import {
  freePort,
  interrupt,
  isUp,
  type RunningStack,
  runStack,
  type TemporaryHome,
  temporaryHome,
} from "./stack-run.ts";

const NOBODY = 65_534;
/** Addresses that speak HTTP to everyone: the public API, and the stand-ins for providers on the internet. */
const PUBLIC = ["gateway", "gateway-2", "model", "speech", "carrier", "whatsapp", "daily"];

let home: TemporaryHome;
let stack: RunningStack;
beforeAll(async () => {
  home = await temporaryHome("open");
  stack = runStack(home.path, await freePort(), { PARLEY_REPLICAS: "2" });
  await isUp(stack);
}, 120_000);
afterAll(async () => {
  await interrupt(stack);
  await home?.remove();
}, 120_000);

/** Runs a program as another user of the machine. @returns what it printed */
function asNobody(script: string): string {
  const identity = { uid: NOBODY, gid: NOBODY, cwd: "/" };
  return Bun.spawnSync([process.execPath, "-e", script], identity).stdout.toString().trim();
}

/** For each address "connected", or the system's code for the failure. */
function connectAsNobody(addresses: readonly string[]): Record<string, string> {
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

describe.skipIf(process.getuid?.() !== 0 || process.platform !== "linux")("another user of the machine", () => {
  test("reaches the gateway, the stand-ins, SIP and the media WebSockets of a stack, and none of its other processes", () => {
    const processes = stack.processes();
    const addresses = processes.flatMap((each) => [
      each.address,
      each.admin_address,
      each.sip_address,
      each.media_address,
    ]);
    const answers = connectAsNobody(addresses.filter((address) => address !== undefined));
    const reached = processes.map(({ name, address, admin_address, sip_address, media_address }) => ({
      name,
      address: answers[address],
      admin: admin_address && answers[admin_address],
      sip: sip_address && answers[sip_address],
      media: media_address && answers[media_address],
    }));
    expect(reached.length).toBeGreaterThan(12);
    for (const { name, address, admin = "EACCES", sip, media } of reached)
      expect({ name, address, admin, sip, media }).toEqual({
        name,
        address: PUBLIC.includes(name) ? "connected" : "EACCES",
        admin: "EACCES",
        sip: name.startsWith("voice") ? "connected" : undefined,
        media: name.startsWith("voice") ? "connected" : undefined,
      });
  });

  test("finds no other TCP port of a stack's processes", () => {
    const processes = stack.processes();
    const ports = listeningPorts(processes.map(({ pid }) => pid));
    for (const { name, pid, address, sip_address, media_address } of processes) {
      const open = [PUBLIC.includes(name) && address, sip_address, media_address].filter((each) => !!each);
      expect({ name, ports: ports.get(pid)?.toSorted() }).toEqual({
        name,
        ports: open.map((each) => Number(String(each).split(":")[1])).toSorted(),
      });
    }
  });

  test("reads none of the files in its home", () => {
    const files = ["", "logs"]
      .flatMap((folder) => readdirSync(join(home.path, folder), { withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.map((file) => file.slice(home.path.length + 1))).toEqual(
      expect.arrayContaining(["dev.env", "installation.json", "stack.json", "supervisor.json", "logs/agent.log"]),
    );
    const script = `for (const file of ${JSON.stringify(files)})
      try { require("node:fs").closeSync(require("node:fs").openSync(file)); console.log(file); } catch {}`;
    expect(asNobody(script)).toBe("");
  });
});
