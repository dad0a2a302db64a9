import { hostOf } from "./address.ts";
import type { AllowList } from "./allow-list.ts";
import { EgressError } from "./error.ts";
import { type Resolve, resolveChecked, resolveHost } from "./resolve.ts";
import { createConnections } from "./send.ts";
import { checkUrl } from "./url.ts";

export interface EgressOptions {
  allow: AllowList;
  resolve?: Resolve;
  /** Limit for look-up, connection and TLS handshake together. Ten seconds by default. */
  connectTimeoutMs?: number;
  /** How long an unused connection is kept; one minute by default. */
  idleTimeoutMs?: number;
  /** 16 MiB by default. */
  maxResponseBytes?: number;
  /** Certificate authorities in PEM, which replace the built-in ones. */
  ca?: string;
}

export interface Egress {
  /**
   * `fetch` for addresses that users give (docs/api-reference.md#outgoing-requests). It follows no redirect: one is an error, or with
   * `redirect: "manual"` the response. It ignores proxies of the environment. The caller must read or cancel the body.
   * @throws EgressError, from the body too; the signal's reason once aborted
   */
  fetch: typeof globalThis.fetch;
  /** Closes the idle connections. */
  close(): void;
}

// Callers must not set headers that describe the connection, nor `accept-encoding` (see response.ts).
const OWN_HEADERS = [
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

export function createEgress(options: EgressOptions): Egress {
  const { allow, resolve = resolveHost, connectTimeoutMs = 10_000, maxResponseBytes = 16 * 1024 * 1024 } = options;
  const connections = createConnections(options.idleTimeoutMs ?? 60_000, options.ca);

  async function guarded(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const given = input instanceof Request ? input.url : String(input);
    const url = checkUrl(given, allow);
    const request = input instanceof Request ? new Request(input, init) : new Request(given, init);
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    // Reads the headers first, because Bun forgets a form's content type once the body is read.
    const headers = headersOf(request, url);
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    if (body !== undefined || request.method === "POST") headers["content-length"] = String(body?.length ?? 0);
    signal?.throwIfAborted();

    const connectByMs = performance.now() + connectTimeoutMs;
    const late = () =>
      new EgressError("timeout", `The host name ${hostOf(url)} could not be resolved in time: try again`);
    const addresses = await bounded(resolveChecked(url, allow, resolve), connectTimeoutMs, signal, late);
    const sending = { url, method: request.method, headers, body, signal, maxResponseBytes, connectByMs };
    const response = await connections.send(sending, addresses);
    if (request.redirect === "manual" || !isRedirect(response.status)) return response;
    await response.body?.cancel();
    throw new EgressError(
      "redirect",
      `${hostOf(url)} answered with a redirect (${response.status}), which is not followed: give the final address`,
    );
  }

  // Bun's fetch type has `preconnect`, which would connect to an unchecked address.
  return { fetch: Object.assign(guarded, { preconnect: () => {} }), close: connections.close };
}

function headersOf(request: Request, url: URL): Record<string, string> {
  const headers: Record<string, string> = Object.fromEntries(request.headers.entries());
  for (const name of OWN_HEADERS) delete headers[name];
  headers.host = url.host;
  headers["accept-encoding"] = "identity";
  return headers;
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/** Waits for `work` until `ms` or the signal end first; then its result is ignored. */
async function bounded<T>(
  work: Promise<T>,
  ms: number,
  signal: AbortSignal | undefined,
  late: () => Error,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), ms);
  const abort = () => reject(signal?.reason);
  signal?.addEventListener("abort", abort);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}
