import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { resolveHost } from "@parley/shared/egress/resolve";

const WITHIN_MS = 3_000;

/** The IP addresses of a host; empty if it has none or no name server answers in time. */
export async function hostAddresses(host: string): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  return Promise.race([resolveHost(host).catch(() => []), sleep(WITHIN_MS, [], { ref: false })]);
}
