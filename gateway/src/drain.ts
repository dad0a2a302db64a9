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
/** Counts polls instead of time, because a process that did not run in the meantime has accepted nothing. */
const QUIET_POLLS_MAX = RENEW_MS / POLL_MS;
/** Turns of the event loop: one to accept a connection, one to read its request, one to handle it. */
const TURNS = 3;

/**
 * A server that stops listening closes every idle connection, on which a client may be sending a request. So the drain
 * first tells clients to reconnect, by `Connection: close` (https://www.rfc-editor.org/rfc/rfc9112#section-9.6): where
 * gateways share a port, or a balancer knows from `/readyz` that this one is leaving, new connections go to others. A
 * reply that is already streaming cannot carry the notice, so the drain waits for its end, up to half the time; the
 * other half is for requests that start in the meantime. A connection that is not yet accepted when the server stops listening
 * is reset, so the drain then waits a little longer until no request arrives.
 * @param limitMs the time limit of the whole drain
 */
export function createDrain(limitMs: number): Drain {
  let draining = false;
  let requests = 0;
  return {
    get isDraining() {
      return draining;
    },
    serving: (fetch) => async (request) => {
      requests++;
      const answer = await fetch(request);
      if (draining) answer.headers.set("Connection", "close");
      return answer;
    },
    async run(server) {
      draining = true;
      const endsAt = performance.now() + limitMs;
      while (server.pendingRequests > 0 && performance.now() < endsAt - limitMs / 2) await Bun.sleep(POLL_MS);
      await Bun.sleep(Math.min(RENEW_MS, limitMs / 2));
      for (let poll = 0, before = -1; before !== requests && poll < QUIET_POLLS_MAX; poll++) {
        if (performance.now() + POLL_MS > endsAt) break;
        before = requests;
        await Bun.sleep(POLL_MS);
        // In a process that did not run in the meantime, the timer comes before the connections that it has yet to accept.
        for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate);
      }
      const drained = server.stop(false);
      await Promise.race([drained, Bun.sleep(Math.max(0, endsAt - performance.now()))]);
      await server.stop(true);
    },
  };
}
