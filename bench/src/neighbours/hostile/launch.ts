import { join } from "node:path";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { eventually } from "@parley/testkit/eventually";
import type { Run } from "../../run.ts";
import type { IdleCpu } from "../idle-cpu.ts";
import type { Orders, Report } from "./orders.ts";

export interface Attacker {
  /** Settles when the attack is prepared, with false if that failed. */
  ready: Promise<boolean>;
  begin(): void;
  /** Ends its process. @returns the outcomes of its requests */
  stop(): Promise<Record<string, number>>;
}

const ENV = { BUN_CONFIG_MAX_HTTP_REQUESTS: "10000" };
const STARTED_WITHIN_MS = 20_000;

/**
 * Starts a hostile client, and the models and webhook endpoints of the hostile owner: a process each, killed together, so that nothing
 * of Parley's hangs on them any longer. In reality they would run on other machines, so they get only CPU time that nobody else uses.
 */
export async function startAttacker(
  run: Run,
  idleCpu: IdleCpu,
  given: Omit<Orders, "endpointsUrl">,
): Promise<Attacker> {
  const [port = 0] = await freePorts(1);
  const endpointsUrl = `http://127.0.0.1:${port}`;
  const endpoints = Bun.spawn(scriptOf("endpoints.ts"), {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "inherit", "inherit"],
    detached: true,
  });
  const ready = Promise.withResolvers<boolean>();
  let tally: Record<string, number> = {};
  const client = Bun.spawn(scriptOf("attacker.ts"), {
    env: { ...process.env, ...ENV },
    stdio: ["ignore", "inherit", "inherit"],
    detached: true,
    ipc(report: Report) {
      if ("ready" in report) ready.resolve(true);
      else if ("tally" in report) tally = report.tally;
      else {
        console.error(`${given.attack} failed: ${report.failed}`);
        ready.resolve(false);
      }
    },
  });
  idleCpu.add([endpoints.pid, client.pid]);
  const stop = async () => {
    for (const child of [client, endpoints]) child.kill("SIGKILL");
    await Promise.all([client.exited, endpoints.exited]);
  };
  run.onEnd(stop);
  await eventually(() => fetch(`${endpointsUrl}/hook/works`), STARTED_WITHIN_MS);
  client.send({ ...given, endpointsUrl });
  return {
    ready: ready.promise,
    begin: () => client.send("begin"),
    stop: async () => {
      await stop();
      return tally;
    },
  };
}

function scriptOf(name: string): string[] {
  return [process.execPath, "--no-orphans", join(import.meta.dir, name)];
}
