import { Metadata } from "@grpc/grpc-js";
import type { Logger } from "../log.ts";
import { type Actor, actorOf, actorText, SYSTEM } from "./actor.ts";

/** What travels with a request from hop to hop. */
export interface CallOrigin {
  requestId: string;
  /** Who makes the request; Parley itself if missing. */
  actor?: Actor | undefined;
  /** W3C trace context (https://www.w3.org/TR/trace-context/), passed on unchanged; a malformed one is dropped. */
  traceparent?: string | undefined;
  /** Epoch milliseconds after which nobody waits for the answer. */
  deadlineMs?: number | undefined;
  /** Fires when the caller has gone. */
  signal?: AbortSignal | undefined;
}

/** The request being served; pass it on as the origin of every call made for it. */
export interface Call extends CallOrigin {
  actor: Actor;
  /**
   * Fires when the caller goes before the answer: it cancelled, disconnected, ran out of time, or was cut off at
   * shutdown.
   */
  signal: AbortSignal;
  /**
   * Fires when the server begins to stop. A stream without an end of its own must end then, or it delays the shutdown.
   */
  stopping: AbortSignal;
  /** Its lines carry the request's id. */
  log: Logger;
  /** The server's own, for requests that the call carries. */
  serverLog: Logger;
  /** Set by a handler whose answer or error is a replay; the caller learns of it by `onReplayed`. */
  replayed?: boolean;
}

const REQUEST_ID = "x-request-id";
const TRACEPARENT = "traceparent";
const ACTOR = "parley-actor";
const TRACEPARENT_FORM = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}(-[!-~]*)?$/;
/** Trailer of a response or an error that replays an earlier request's with the same idempotency key. */
const REPLAYED = "parley-idempotent-replayed";

/** Whether a text has the form of a W3C trace context. */
export function isTraceparent(text: string): boolean {
  return TRACEPARENT_FORM.test(text);
}

export function markReplayed(trailers: Metadata): Metadata {
  trailers.set(REPLAYED, "1");
  return trailers;
}

export function isReplayed(trailers: Metadata): boolean {
  return trailers.get(REPLAYED).length > 0;
}

/**
 * @param traceparent the trace that the call belongs to
 * @param actor who makes the call if its origin does not tell
 */
export function originMetadata(
  origin: CallOrigin | undefined,
  traceparent = origin?.traceparent,
  actor: Actor = SYSTEM,
): Metadata {
  const metadata = new Metadata();
  if (origin) metadata.set(REQUEST_ID, origin.requestId);
  const madeBy = actorText(origin?.actor ?? actor);
  if (madeBy !== "") metadata.set(ACTOR, madeBy);
  if (traceparent && isTraceparent(traceparent)) metadata.set(TRACEPARENT, traceparent);
  return metadata;
}

export function readOrigin(metadata: Metadata): {
  requestId: string;
  traceparent: string | undefined;
  actor: Actor;
} {
  const requestId = metadata.get(REQUEST_ID)[0];
  const traceparent = metadata.get(TRACEPARENT)[0];
  return {
    requestId: typeof requestId === "string" ? requestId : Bun.randomUUIDv7(),
    traceparent: typeof traceparent === "string" ? traceparent : undefined,
    actor: actorOf(metadata.get(ACTOR)[0]),
  };
}
