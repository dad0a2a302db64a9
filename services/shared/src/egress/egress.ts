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
    const url = checkUrl(input instanceof Request ? input.url : String(input), allow);
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    const { method, headers: given, body, redirect } = await outgoing(input, init);
    const headers = ownHeaders(given, url);
    if (body !== undefined || method === "POST") headers["content-length"] = String(body?.length ?? 0);
    signal?.throwIfAborted();

    const connectByMs = performance.now() + connectTimeoutMs;
    const late = () =>
      new EgressError("timeout", `The host name ${hostOf(url)} could not be resolved in time: try again`);
    const addresses = await bounded(resolveChecked(url, allow, resolve), connectTimeoutMs, signal, late);
    const sending = { url, method, headers, body, signal, maxResponseBytes, connectByMs };
    const response = await connections.send(sending, addresses);
    if (redirect === "manual" || !isRedirect(response.status)) return response;
    await response.body?.cancel();
    throw new EgressError(
      "redirect",
      `${hostOf(url)} answered with a redirect (${response.status}), which is not followed: give the final address`,
    );
  }

  // Bun's fetch type has `preconnect`, which would connect to an unchecked address.
  return { fetch: Object.assign(guarded, { preconnect: () => {} }), close: connections.close };
}

interface Outgoing {
  method: string;
  headers: Headers;
  body: Uint8Array | undefined;
  redirect: RequestInit["redirect"];
}

async function outgoing(input: string | URL | Request, init: RequestInit | undefined): Promise<Outgoing> {
  const given = init?.body;
  const isPlain = typeof given === "string" || given instanceof Uint8Array;
  if (!(input instanceof Request) && isPlain && init?.method === "POST") {
    // A Request would copy the bytes: 7 µs of a webhook delivery, 10 of a chat turn.
    const headers = new Headers(init.headers);
    const isText = typeof given === "string";
    if (isText && !headers.has("content-type")) headers.set("content-type", "text/plain;charset=UTF-8");
    const body = isText ? new TextEncoder().encode(given) : given;
    return { method: init.method, headers, body, redirect: init.redirect };
  }
  const request = input instanceof Request ? new Request(input, init) : new Request(String(input), init);
  // Copies the headers first, because Bun forgets a form's content type once the body is read.
  const headers = new Headers(request.headers);
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
  return { method: request.method, headers, body, redirect: request.redirect };
}

function ownHeaders(given: Headers, url: URL): Record<string, string> {
  const headers: Record<string, string> = Object.fromEntries(given.entries());
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
