import { hostOf } from "./address.ts";
import type { AllowList } from "./allow-list.ts";
import { type Answer, answerOf } from "./answer.ts";
import { EgressError } from "./error.ts";
import { type Resolve, resolveChecked, resolveRemembered } from "./resolve.ts";
import { responseOf } from "./response.ts";
import { createConnections, type Sending } from "./send.ts";
import { urlChecker } from "./url.ts";

export interface EgressOptions {
  allow: AllowList;
  /** Remembers names by default. */
  resolve?: Resolve;
  /** Limit for look-up, connection and TLS handshake together. Ten seconds by default. */
  connectTimeoutMs?: number;
  /** How long an unused connection is kept; one minute by default. */
  idleTimeoutMs?: number;
  /** Unused connections to all hosts; 1,024 by default. */
  idleMax?: number;
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
  /**
   * The same for a caller that reads the answer as it arrives, without the `Response` and its stream, which cost a fifth of a short
   * request. @throws EgressError, from `read` too; the signal's reason once aborted
   */
  ask(url: string, init: RequestInit): Promise<Answer>;
  /** Closes the idle connections. */
  close(): void;
}

// Callers must not set headers that describe the connection, nor `accept-encoding` (see response.ts).
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

export function createEgress(options: EgressOptions): Egress {
  const {
    allow,
    resolve = resolveRemembered,
    connectTimeoutMs = 10_000,
    maxResponseBytes = 16 * 1024 * 1024,
  } = options;
  const check = urlChecker(allow);
  const connections = createConnections(options.idleTimeoutMs ?? 60_000, options.ca, options.idleMax);

  async function guarded(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const url = check(input instanceof Request ? input.url : String(input));
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    const isAddress = !(input instanceof Request);
    const { method, headers, body, redirect } = (isAddress && plain(init)) || (await outgoing(input, init));
    const response = await open(url, { method, headers, body, signal }, responseOf);
    if (redirect === "manual" || !isRedirect(response.status)) return response;
    await response.body?.cancel();
    throw redirected(url, response.status);
  }

  async function ask(text: string, init: RequestInit): Promise<Answer> {
    const url = check(text);
    const { method, headers, body, redirect } = plain(init) ?? (await outgoing(text, init));
    const answer = await open(url, { method, headers, body, signal: init.signal ?? undefined }, answerOf);
    if (redirect === "manual" || !isRedirect(answer.status)) return answer;
    answer.cancel();
    throw redirected(url, answer.status);
  }

  /** Sends to an address that the check has found good, once its name is resolved. @returns what `take` takes of the response */
  async function open<T>(
    url: URL,
    { method, headers: given, body, signal }: Opening,
    take: Sending<T>["take"],
  ): Promise<T> {
    const headers = ownHeaders(given, url);
    if (body !== undefined || method === "POST") headers["content-length"] = String(body?.length ?? 0);
    signal?.throwIfAborted();

    const connectByMs = performance.now() + connectTimeoutMs;
    const late = () =>
      new EgressError("timeout", `The host name ${hostOf(url)} could not be resolved in time: try again`);
    const addresses = await bounded(resolveChecked(url, allow, resolve), connectTimeoutMs, signal, late);
    return connections.send({ url, method, headers, body, signal, maxResponseBytes, connectByMs, take }, addresses);
  }

  // Bun's fetch type has `preconnect`, which would connect to an unchecked address.
  return { fetch: Object.assign(guarded, { preconnect: () => {} }), ask, close: connections.close };
}

interface Opening {
  method: string;
  headers: Iterable<[name: string, value: string]>;
  body?: Uint8Array | undefined;
  signal?: AbortSignal | undefined;
}

interface Outgoing {
  method: string;
  headers: Iterable<[name: string, value: string]>;
  body: Uint8Array | undefined;
  redirect: RequestInit["redirect"];
}

/** Whether a plain request of each method has a body. */
const PLAIN: Readonly<Record<string, boolean>> = { GET: false, POST: true, PATCH: true, PUT: true };

/** A plain request, without a Request, which would copy the bytes: 7 µs of a webhook delivery, 10 of a chat turn. Null for others. */
function plain({ method = "", body, headers, redirect }: RequestInit = {}): Outgoing | null {
  if (PLAIN[method] !== (body !== undefined)) return null;
  if (body === undefined || body instanceof Uint8Array) return { method, headers: entriesOf(headers), body, redirect };
  if (typeof body !== "string") return null;
  const ofText = new Headers(headers);
  if (!ofText.has("content-type")) ofText.set("content-type", "text/plain;charset=UTF-8");
  return { method, headers: ofText, body: new TextEncoder().encode(body), redirect };
}

async function outgoing(input: string | URL | Request, init: RequestInit | undefined): Promise<Outgoing> {
  const request = input instanceof Request ? new Request(input, init) : new Request(String(input), init);
  // Copies the headers first, because Bun forgets a form's content type once the body is read.
  const headers = new Headers(request.headers);
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
  return { method: request.method, headers, body, redirect: request.redirect };
}

/** A plain object's entries need no Headers: `node:http` refuses the same characters. */
function entriesOf(headers: RequestInit["headers"]): Iterable<[name: string, value: string]> {
  const isPlain = headers !== undefined && !Array.isArray(headers) && !(headers instanceof Headers);
  return isPlain ? Object.entries(headers as Record<string, string>) : new Headers(headers);
}

function ownHeaders(given: Iterable<[name: string, value: string]>, url: URL): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of given) {
    const lower = name.toLowerCase();
    if (!OWN_HEADERS.has(lower)) headers[lower] = value;
  }
  headers.host = url.host;
  headers["accept-encoding"] = "identity";
  return headers;
}

function redirected(url: URL, status: number): EgressError {
  return new EgressError(
    "redirect",
    `${hostOf(url)} answered with a redirect (${status}), which is not followed: give the final address`,
  );
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
