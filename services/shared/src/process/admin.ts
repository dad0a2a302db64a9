import { ConfigError } from "../config.ts";
import { removeStaleSocket, socketPath } from "../rpc/unix-sockets.ts";

/** host:port, with IPv6 in brackets. */
const LISTEN = /^(?:\[([\da-f:]+)\]|([^:]+)):(\d{1,5})$/i;
const HEALTH_WITHIN_MS = 2_000;
const PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

export interface Admin {
  /** Sets what `/readyz` reports. */
  setReady(ready: boolean): void;
}

/**
 * Serves an orchestrator over plain HTTP on a separate port: `/healthz` answers while the process runs, `/readyz`
 * returns 200 while it accepts requests and 503 before and after, `/metrics` returns metrics for Prometheus. Exposes no
 * secrets.
 * @param listen PARLEY_ADMIN_LISTEN, host:port or unix:path; empty for none
 * @param metrics in Prometheus' text format
 * @throws ConfigError when it cannot listen on the address
 */
export async function serveAdmin(listen: string, metrics: () => Promise<string>): Promise<Admin> {
  let ready = false;
  const admin: Admin = {
    setReady: (now) => {
      ready = now;
    },
  };
  if (listen === "") return admin;
  const where = parse(listen);
  if ("unix" in where) await removeStaleSocket(where.unix);
  try {
    Bun.serve({
      ...where,
      routes: {
        "/metrics": async () => new Response(await metrics(), { headers: { "Content-Type": PROMETHEUS_TEXT } }),
        "/healthz": () => new Response("ok\n"),
        "/readyz": () => (ready ? new Response("ready\n") : new Response("not ready\n", { status: 503 })),
      },
      fetch: () => new Response("not found\n", { status: 404 }),
    }).unref();
  } catch (error) {
    throw new ConfigError(`PARLEY_ADMIN_LISTEN: cannot listen on ${listen} (${error})`);
  }
  return admin;
}

/** Asks the process with the same PARLEY_ADMIN_LISTEN whether it is ready. @returns an exit status */
export async function checkReady(listen: string): Promise<number> {
  if (listen === "")
    throw new ConfigError("PARLEY_ADMIN_LISTEN is missing: set it to the address of the process to check");
  const where = parse(listen);
  const signal = AbortSignal.timeout(HEALTH_WITHIN_MS);
  const request =
    "unix" in where
      ? fetch("http://localhost/readyz", { signal, unix: where.unix })
      : fetch(`http://${reachable(where.hostname)}:${where.port}/readyz`, { signal });
  const response = await request.catch(() => null);
  return response?.ok ? 0 : 1;
}

function reachable(hostname: string): string {
  if (hostname === "0.0.0.0") return "127.0.0.1";
  if (hostname === "::") return "[::1]";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

function parse(listen: string): { unix: string } | { hostname: string; port: number } {
  const unix = socketPath(listen);
  if (unix) return { unix };
  const [, v6, name, port] = LISTEN.exec(listen) ?? [];
  const hostname = v6 ?? name;
  if (!hostname || Number(port) > 65_535)
    throw new ConfigError(`PARLEY_ADMIN_LISTEN: "${listen}" is neither host:port nor unix:path`);
  return { hostname, port: Number(port) };
}
