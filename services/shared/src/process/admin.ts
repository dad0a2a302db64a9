import { ConfigError } from "../config.ts";
import { removeStaleSocket } from "../rpc/unix-sockets.ts";
import { parseListen } from "./health.ts";

const PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

interface Admin {
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
  const where = parseListen(listen);
  if (where === null) throw new ConfigError(`PARLEY_ADMIN_LISTEN: "${listen}" is neither host:port nor unix:path`);
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
