import type { Clock } from "@parley/shared/clock";
import type { Egress } from "@parley/shared/egress/egress";
import { EgressError } from "@parley/shared/egress/error";
import { meterBodies } from "@parley/shared/egress/meter";
import type { Logger } from "@parley/shared/log";
import { durations } from "@parley/shared/telemetry/instruments";
import { inSpan, SpanKind } from "@parley/shared/telemetry/spans";
import type { Sign } from "../secrets.ts";
import type { AttemptRequest, AttemptRow, PendingDelivery } from "../store/deliveries.ts";
import type { RequestTypeName, RetryScheduleName } from "../store/destinations.ts";
import { EXCERPT_BYTES_MAX, excerptOf } from "./excerpt.ts";
import { requestOf } from "./request.ts";
import { payloadFor } from "./url-payload.ts";

const took = durations("parley.webhook.attempt.duration", "Duration of delivery attempts by outcome");

export interface Sender {
  /** Guarded against private addresses, because the owner chooses the address. */
  ask: Egress["ask"];
  timeoutMs: number;
  clock: Clock;
  log: Logger;
}

/** A destination's address and how it receives events. */
export interface Target {
  url: string;
  requestType: RequestTypeName;
  /** When failed attempts are repeated. */
  retrySchedule: RetryScheduleName;
  sign: Sign;
}

export interface Attempt extends AttemptRow {
  succeeded: boolean;
  /** Of the response's body, which is cut off early. */
  receivedBytes: number;
  endedAt: Date;
}

/** Sends a delivery once. Never rejects: an internal error is a failed attempt too. */
export function makeAttempt(
  sender: Sender,
  target: Target,
  delivery: PendingDelivery,
  payload: string,
): Promise<Attempt> {
  const span = { kind: SpanKind.CLIENT, parent: delivery.traceparent };
  return inSpan(`webhook ${target.requestType}`, span, async (span) => {
    const attempt = await send(sender, target, delivery, payload);
    const { httpStatus, durationMs, succeeded } = attempt;
    const outcome = succeeded ? "ok" : httpStatus === null ? "no_answer" : "refused";
    took().record(durationMs / 1_000, { outcome });
    span?.setAttributes({
      outcome,
      "parley.delivery_id": delivery.deliveryId,
      "http.response.status_code": httpStatus ?? 0,
    });
    return attempt;
  });
}

async function send(
  sender: Sender,
  target: Target,
  { ownerId, event, eventId }: PendingDelivery,
  stored: string,
): Promise<Attempt> {
  const startedAt = sender.clock.now();
  const startedMs = performance.now();
  const pieces: Uint8Array[] = [];
  let httpStatus = null as number | null;
  let receivedBytes = 0;
  let error: string | null = null;
  let logged: AttemptRequest | null = null;
  // AbortSignal.timeout would keep each attempt's signal for the full ten seconds.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), sender.timeoutMs);
  // All responses of an owner's receivers are parsed in its turns.
  meterBodies(late.signal, { ownerId, received: () => {} });
  try {
    const sent = { event, payload: payloadFor(target.requestType, stored) };
    const { request, payload } = requestOf(target.url, target.requestType, sent);
    const { url, ...rest } = request;
    const signed = target.sign(eventId, payload, startedAt);
    const headers = { "user-agent": "Parley", ...rest.headers, ...signed };
    logged = { method: request.method, url: target.url, headers };
    // A redirect is an answer like any other.
    const answer = await sender.ask(url, { ...rest, headers, redirect: "manual", signal: late.signal });
    httpStatus = answer.status;
    // A short body is read to its end, so that the connection can be reused.
    for (let next = await answer.read(); next; next = await answer.read()) {
      for (const piece of next) {
        pieces.push(piece);
        receivedBytes += piece.length;
      }
      if (receivedBytes > EXCERPT_BYTES_MAX) {
        answer.cancel();
        break;
      }
    }
  } catch (cause) {
    error = explain(cause, late.signal.aborted, sender);
  } finally {
    clearTimeout(timer);
  }
  return {
    startedAt,
    durationMs: Math.round(performance.now() - startedMs),
    httpStatus,
    error,
    responseExcerpt: httpStatus === null ? null : excerptOf(pieces),
    request: logged && JSON.stringify(logged),
    // Any 2xx is success, even if its body breaks off or never ends.
    succeeded: httpStatus !== null && httpStatus >= 200 && httpStatus < 300,
    receivedBytes,
    endedAt: sender.clock.now(),
  };
}

/** The error that the owner reads. */
function explain(cause: unknown, isLate: boolean, { timeoutMs, log }: Sender): string {
  if (isLate) return `The response was not complete within ${timeoutMs / 1000} s`;
  if (cause instanceof EgressError) return cause.message;
  log.error({ err: cause }, "a webhook request could not be made");
  return "The request could not be made: an internal error";
}
