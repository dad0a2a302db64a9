import http, { type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import { hostOf, portOf } from "./address.ts";
import type { BodyBounds } from "./answer.ts";
import { codeOf, EgressError, networkError } from "./error.ts";
import { type IdleConnections, idleConnections } from "./idle-connections.ts";
import { limitInterim } from "./interim.ts";
import { meterOf } from "./meter.ts";

export interface Sending<T> {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: Uint8Array | undefined;
  signal: AbortSignal | undefined;
  maxResponseBytes: number;
  /** When to stop trying to connect, in `performance.now()` time. */
  connectByMs: number;
  /** Takes the response when its head has arrived. */
  take(request: ClientRequest, incoming: IncomingMessage, bounds: BodyBounds): T;
}

type Outcome<T> = { taken: T } | { error: unknown; retry: "never" | "next_address" | "new_connection" };

// A server that has closed an idle connection resets requests that cross the close, at most a round trip later.
const STALE_WITHIN_MS = 1_000;

/**
 * Most idle connections: more than the dispatcher's concurrent requests. With Node's 256 for a host, half of each burst
 * of 512 began with a handshake, a millisecond of CPU.
 */
const IDLE_MAX = 1_024;

/**
 * Most interim responses (RFC 9110, section 15.2) before an answer. The runtime reads as many as arrive before anything else, so a server
 * that sends nothing else would stop the event loop for good. One more is read, and tells that there are too many.
 */
const INTERIM_MAX = 16;

/** A name's owner may list thousands of other people's addresses, and each would get a connection attempt. */
const ADDRESSES_MAX = 8;
/**
 * Keep-alive connections by host, port and address. `fetch` can be pinned too (`tls.serverName`) at the same CPU cost
 * for a streamed reply, but cannot limit the connection time, and 256 requests to stalled hosts would block every fetch
 * of the process.
 */
export function createConnections(idleTimeoutMs: number, ca: string | undefined, idleMax = IDLE_MAX) {
  const options = {
    keepAlive: true,
    timeout: idleTimeoutMs,
    scheduling: "lifo",
    maxFreeSockets: idleMax,
  } as const;
  const plain = new http.Agent(options);
  const secure = new https.Agent(options);
  const idle = idleConnections(idleMax);
  for (const agent of [plain, secure]) idle.follow(agent);

  return {
    /**
     * Sends to the first of `addresses` that accepts a connection, preferring one with an open connection. Tries at
     * most eight.
     * @returns what the sending takes of the response
     * @throws EgressError, the signal's reason
     */
    async send<T>(sending: Sending<T>, addresses: readonly string[]): Promise<T> {
      const agent = isSecure(sending.url) ? secure : plain;
      const isOpen = (options: https.RequestOptions) => (agent.freeSockets[agent.getName(options)]?.length ?? 0) > 0;
      const targets = addresses.slice(0, ADDRESSES_MAX).map((address) => target(sending.url, address, ca));
      if (targets.length > 1) targets.sort((a, b) => Number(isOpen(b)) - Number(isOpen(a)));

      let error: unknown;
      for (const [index, options] of targets.entries()) {
        const waitMs = Math.max(1, (sending.connectByMs - performance.now()) / (targets.length - index));
        let outcome = await attempt(sending, { ...options, agent }, waitMs, idle);
        if ("error" in outcome && outcome.retry === "new_connection")
          outcome = await attempt(sending, { ...options, agent: false }, waitMs, idle);
        if ("taken" in outcome) return outcome.taken;
        error = outcome.error;
        if (outcome.retry !== "next_address") break;
      }
      throw error;
    },
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}

/** Connects to the address but verifies the certificate for the URL's host, regardless of the environment. */
function target(url: URL, address: string, ca: string | undefined): https.RequestOptions {
  const host = hostOf(url);
  const plain = { host: address, port: portOf(url) };
  if (!isSecure(url)) return plain;
  return { ...plain, servername: isIP(host) ? "" : host, rejectUnauthorized: true, ...(ca !== undefined && { ca }) };
}

function isSecure(url: URL): boolean {
  return url.protocol === "https:";
}

function attempt<T>(
  sending: Sending<T>,
  options: https.RequestOptions,
  waitMs: number,
  idle: Pick<IdleConnections, "use">,
): Promise<Outcome<T>> {
  const { url, method, headers, body, signal, maxResponseBytes } = sending;
  if (signal?.aborted) return Promise.resolve({ error: signal.reason, retry: "never" });
  const host = hostOf(url);
  const open = isSecure(url) ? https.request : http.request;
  const startedMs = performance.now();
  return new Promise((resolve) => {
    let isConnected = false;
    let interim = 0;
    const request = open({ ...options, method, headers, path: `${url.pathname}${url.search}`, setHost: false });
    const settle = (outcome: Outcome<T>) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      if ("error" in outcome) request.destroy();
      resolve(outcome);
    };
    const abort = () => settle({ error: signal?.reason, retry: "never" });
    const giveUp = () =>
      settle({
        error: new EgressError("timeout", `${host} did not accept a connection in time`),
        retry: "next_address",
      });
    const timer = setTimeout(giveUp, waitMs);
    signal?.addEventListener("abort", abort);

    request.once("socket", (socket) => {
      idle.use(socket, meterOf(signal)?.ownerId ?? host);
      request.once("response", limitInterim(socket, INTERIM_MAX + 1));
      if (request.reusedSocket) return clearTimeout(timer);
      socket.once("connect", () => {
        isConnected = true;
      });
      socket.once(isSecure(url) ? "secureConnect" : "connect", () => clearTimeout(timer));
    });
    request.once("response", (incoming) => {
      settle(taken(sending, request, incoming, { host, maxResponseBytes, signal }));
    });
    request.on("information", () => {
      if (++interim === INTERIM_MAX + 1) settle({ error: endlessAnswer(host), retry: "never" });
    });
    request.once("upgrade", (_, socket) => {
      socket.destroy();
      settle({ error: networkError(host, { code: "HPE_UPGRADE" }), retry: "never" });
    });
    request.on("error", (cause) => {
      const isStale = request.reusedSocket && performance.now() - startedMs < STALE_WITHIN_MS;
      const isReset = codeOf(cause) === "ECONNRESET" || codeOf(cause) === "EPIPE";
      const again = isStale && isReset ? "new_connection" : "never";
      settle({ error: networkError(host, cause), retry: isConnected || request.reusedSocket ? again : "next_address" });
    });
    request.end(body);
  });
}

function endlessAnswer(host: string): EgressError {
  return new EgressError("too_large", `${host} sent more than ${INTERIM_MAX} interim responses (1xx) and no answer`);
}

function taken<T>(
  { take }: Sending<T>,
  request: ClientRequest,
  incoming: IncomingMessage,
  bounds: BodyBounds,
): Outcome<T> {
  try {
    return { taken: take(request, incoming, bounds) };
  } catch (cause) {
    return { error: networkError(bounds.host, cause), retry: "never" };
  }
}
