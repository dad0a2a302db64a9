import type { Server } from "bun";

type Fetch = (request: Request) => Response | Promise<Response>;

/** How a gateway leaves while requests keep coming, and nobody's is lost. */
export interface Drain {
  readonly isDraining: boolean;
  /** What serves requests, and tells whoever gets an answer meanwhile that the connection ends with it. */
  serving(fetch: Fetch): Fetch;
  /** Settles when nothing is under way any more, or the time is over. */
  run(server: Server<unknown>): Promise<void>;
}

/** Connections that are in use get an answer in this time, and with it word that they end. */
const RENEW_MS = 500;
const POLL_MS = 20;

/**
 * To stop listening is to end every idle connection, on which its client may just be sending a request. So clients are first told
 * to open new ones, by `Connection: close` (https://www.rfc-editor.org/rfc/rfc9112#section-9.6): where gateways share a port, or
 * a balancer knows from `/readyz` that this one is leaving, those are another's. A reply that was being streamed before cannot be
 * told any more, so its end is waited for, up to half the time; the other half is for those that began meanwhile.
 * @param limitMs for all of it
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
