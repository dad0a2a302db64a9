import { socketPath } from "../rpc/socket-path.ts";

/** host:port, with IPv6 in brackets. */
const LISTEN = /^(?:\[([\da-f:]+)\]|([^:]+)):(\d{1,5})$/i;
const HEALTH_WITHIN_MS = 2_000;

/**
 * Asks the process with the same PARLEY_ADMIN_LISTEN whether it is ready, and prints why it is not. Imports only what it
 * needs, because every check of a container is a process of its own.
 * @returns an exit status
 */
export async function checkReady(listen: string): Promise<number> {
  const where = parseListen(listen);
  if (where === null) {
    process.stderr.write(`PARLEY_ADMIN_LISTEN: set it to the address of the process to check, not "${listen}"\n`);
    return 1;
  }
  const signal = AbortSignal.timeout(HEALTH_WITHIN_MS);
  const request =
    "unix" in where
      ? fetch("http://localhost/readyz", { signal, unix: where.unix })
      : fetch(`http://${reachable(where.hostname)}:${where.port}/readyz`, { signal });
  const answer = await request.then((response) => (response.ok ? null : response.text()), String);
  if (answer === null) return 0;
  process.stderr.write(`${answer.trim()}\n`);
  return 1;
}

/** The host by which clients on this machine reach what listens on a host, in the form of URLs. @param hostname "" for every address */
export function reachable(hostname: string): string {
  if (hostname === "0.0.0.0" || hostname === "") return "127.0.0.1";
  if (hostname === "::") return "[::1]";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

/** The address in PARLEY_ADMIN_LISTEN; null if it is neither host:port nor unix:path. */
export function parseListen(listen: string): { unix: string } | { hostname: string; port: number } | null {
  const unix = socketPath(listen);
  if (unix) return { unix };
  const [, v6, name, port] = LISTEN.exec(listen) ?? [];
  const hostname = v6 ?? name;
  return !hostname || Number(port) > 65_535 ? null : { hostname, port: Number(port) };
}
