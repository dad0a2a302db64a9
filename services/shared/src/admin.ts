import { ConfigError } from "./config.ts";
import { removeStaleSocket, socketPath } from "./rpc/unix-sockets.ts";

/** host:port, of IPv6 in brackets. */
const LISTEN = /^(?:\[([\da-f:]+)\]|([^:]+)):(\d{1,5})$/i;
const HEALTH_WITHIN_MS = 2_000;
const PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

export interface Admin {
  /** Whether `/readyz` says that requests may be sent here. */
  setReady(ready: boolean): void;
}

/**
 * What tells an orchestrator of this process, over plain HTTP on a port of its own, apart from what it serves: `/healthz`
 * answers while the process does, `/readyz` with 200 while it takes requests and 503 before and after, `/metrics` what
 * Prometheus reads. Nothing secret is here.
 * @param listen PARLEY_ADMIN_LISTEN, host:port or unix:path; empty for none
 * @param metrics in Prometheus' text format
 * @throws ConfigError when it cannot be listened on
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
    throw new ConfigError(`PARLEY_ADMIN_LISTEN: ${listen} cannot be listened on (${error})`);
  }
  return admin;
}

/** Asks the process that runs with the same PARLEY_ADMIN_LISTEN whether it is ready. @returns an exit status */
export async function checkReady(listen: string): Promise<number> {
  if (listen === "") throw new ConfigError("PARLEY_ADMIN_LISTEN is missing: without it there is nobody to ask");
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
