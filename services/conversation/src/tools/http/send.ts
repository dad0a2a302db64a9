import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, headersByName } from "@parley/shared/egress/answer";
import type { Egress } from "@parley/shared/egress/egress";
import { EgressError } from "@parley/shared/egress/error";
import { backOff } from "@parley/shared/retry/back-off";
import { retryAfterMs } from "../../model/retry-after.ts";
import { readText } from "./read-text.ts";
import type { HttpRequest } from "./request.ts";

const RETRIED_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const RETRIED_FAILURES: ReadonlySet<string> = new Set(["network", "timeout", "unresolvable"]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const delayMs = backOff(500, 10_000);

interface Sending {
  ask: Egress["ask"];
  /** Ends attempts and waits. */
  signal: AbortSignal;
  /** For all attempts together. */
  deadlineAt: number;
  retries: number;
  /** Of the body, how many bytes are read. */
  bytesMax: number;
  /** Called when an attempt begins. */
  began(): void;
  /** Adds what each request has of its own, such as its signature. */
  finish(request: HttpRequest): HttpRequest;
}

export interface Received {
  status: number;
  text: string;
  isCut: boolean;
}

/**
 * Sends a request, again on 429, 502, 503, 504 and failed connections while attempts and time are left, as far apart as the server asks
 * for. Follows one redirect of a GET, on the same host.
 * @returns the answer, or why there is none @throws the signal's reason
 */
export async function send(request: HttpRequest, sending: Sending): Promise<Received | Error> {
  for (let attempts = 1; ; attempts++) {
    sending.began();
    const { received, askedMs } = await attempt(request, sending);
    const isRetried = received instanceof Error ? isConnectionFailure(received) : RETRIED_STATUSES.has(received.status);
    const waitMs = Math.max(delayMs(attempts), askedMs);
    const isLate = performance.now() + waitMs >= sending.deadlineAt;
    if (!isRetried || attempts > sending.retries || isLate) return received;
    await sleep(waitMs, undefined, { signal: sending.signal });
  }
}

async function attempt(
  request: HttpRequest,
  sending: Sending,
): Promise<{ received: Received | Error; askedMs: number }> {
  try {
    const answer = await follow(request, sending);
    const headers = headersByName(answer);
    const askedMs = retryAfterMs(headers, Date.now()) ?? 0;
    return { received: { status: answer.status, ...(await readText(answer, sending.bytesMax)) }, askedMs };
  } catch (error) {
    sending.signal.throwIfAborted();
    if (error instanceof EgressError) return { received: error, askedMs: 0 };
    throw error;
  }
}

async function follow(request: HttpRequest, sending: Sending): Promise<Answer> {
  const first = await ask(request, sending);
  if (!REDIRECTS.has(first.status)) return first;
  first.cancel();
  const location = headersByName(first).location ?? "";
  const target = URL.parse(location, request.url);
  // A fragment is for the reader of the answer.
  if (target) target.hash = "";
  const { origin } = new URL(request.url);
  if (request.method !== "GET" || target?.origin !== origin) {
    throw new EgressError(
      "redirect",
      "The server answered with a redirect that is not followed: only a GET is, once, on the same host",
    );
  }
  const second = await ask({ ...request, url: target.href }, sending);
  if (!REDIRECTS.has(second.status)) return second;
  second.cancel();
  throw new EgressError("redirect", "The server answered with a second redirect, which is not followed");
}

function ask(request: HttpRequest, { ask: askIt, signal, finish }: Sending): Promise<Answer> {
  const { url, method, headers, body } = finish(request);
  const content = body === "" ? {} : { body: new TextEncoder().encode(body) };
  return askIt(url, { method, headers, ...content, redirect: "manual", signal });
}

function isConnectionFailure(error: Error): boolean {
  return error instanceof EgressError && RETRIED_FAILURES.has(error.kind);
}
