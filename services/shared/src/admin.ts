import { ConfigError } from "./config.ts";

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
 * @param listen PARLEY_ADMIN_LISTEN, host:port; empty for none
 * @param metrics in Prometheus' text format
 * @throws ConfigError when it cannot be listened on
 */
export function serveAdmin(listen: string, metrics: () => Promise<string>): Admin {
  let ready = false;
  const admin: Admin = {
    setReady: (now) => {
      ready = now;
    },
  };
  if (listen === "") return admin;
  const { hostname, port } = parse(listen);
  try {
    Bun.serve({
      hostname,
      port,
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
  const { hostname, port } = parse(listen);
  const host =
    { "0.0.0.0": "127.0.0.1", "::": "[::1]" }[hostname] ?? (hostname.includes(":") ? `[${hostname}]` : hostname);
  const signal = AbortSignal.timeout(HEALTH_WITHIN_MS);
  const response = await fetch(`http://${host}:${port}/readyz`, { signal }).catch(() => null);
  return response?.ok ? 0 : 1;
}

function parse(listen: string): { hostname: string; port: number } {
  const [, v6, name, port] = LISTEN.exec(listen) ?? [];
  const hostname = v6 ?? name;
  if (!hostname || Number(port) > 65_535) throw new ConfigError(`PARLEY_ADMIN_LISTEN: "${listen}" is not host:port`);
  return { hostname, port: Number(port) };
}
