import type { Server } from "bun";

type Fetch = (request: Request) => Response | Promise<Response>;

/** Shuts a gateway down under load without losing requests. */
export interface Drain {
  readonly isDraining: boolean;
  /** Wraps a handler: while draining, responses tell clients that the connection closes. */
  serving(fetch: Fetch): Fetch;
  /** Resolves when no request is in progress, or the time is up. */
  run(server: Server<unknown>): Promise<void>;
}

/** Active connections get a response within this time, and with it the notice to close. */
const RENEW_MS = 500;
const POLL_MS = 20;

/**
 * A server that stops listening closes every idle connection, on which a client may be sending a request. So the drain
 * first tells clients to reconnect, by `Connection: close` (https://www.rfc-editor.org/rfc/rfc9112#section-9.6): where
 * gateways share a port, or a balancer knows from `/readyz` that this one is leaving, new connections go to others. A
 * reply that is already streaming cannot carry the notice, so the drain waits for its end, up to half the time; the
 * other half is for requests that start meanwhile.
 * @param limitMs for the whole drain
 */
export function createDrain(limitMs: number): Drain {
  let draining = false;
  return {
    get isDraining() {
      return draining;
    },
    serving: (fetch) => async (request) => {
      const answer = await fetch(request);
      if (draining) answer.headers.set("Connection", "close");
      return answer;
    },
    async run(server) {
      draining = true;
      const endsAt = performance.now() + limitMs;
      while (server.pendingRequests > 0 && performance.now() < endsAt - limitMs / 2) await Bun.sleep(POLL_MS);
      await Bun.sleep(Math.min(RENEW_MS, limitMs / 2));
      const drained = server.stop(false);
      await Promise.race([drained, Bun.sleep(Math.max(0, endsAt - performance.now()))]);
      await server.stop(true);
    },
  };
}
