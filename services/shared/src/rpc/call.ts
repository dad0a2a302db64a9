import { Metadata } from "@grpc/grpc-js";
import type { Logger } from "../log.ts";

/** What a request carries from hop to hop. */
export interface CallOrigin {
  requestId: string;
  /** W3C trace context (https://www.w3.org/TR/trace-context/), passed on as it came; one of another form is dropped. */
  traceparent?: string | undefined;
  /** Epoch milliseconds after which nobody waits for the answer. */
  deadlineMs?: number | undefined;
  /** Fires when the caller is gone. */
  signal?: AbortSignal | undefined;
  /** Is told the bytes of each unary answer that arrives for the request, before they are read. */
  onAnswer?: ((bytes: number) => void) | undefined;
}

/** The request being served; pass it on as the origin of every call made for it. */
export interface Call extends CallOrigin {
  /** Fires when the caller is gone before the answer: cancelled, disconnected, out of time, or cut off at a stop. */
  signal: AbortSignal;
  /** Fires when the server begins to stop: a stream without an end of its own ends then, or holds the stop up. */
  stopping: AbortSignal;
  /** Its lines name the request. */
  log: Logger;
  /** Runs `then` once the answer has left the process, or the caller is gone: what was held for it can go. */
  onSent(then: () => void): void;
  /** Set by a handler whose answer, or a stream's error, an earlier request got first; the caller is told by `onReplayed`. */
  replayed?: boolean;
}

const REQUEST_ID = "x-request-id";
const TRACEPARENT = "traceparent";
const TRACEPARENT_FORM = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}(-[!-~]*)?$/;
/** Trailer of a response or an error that an earlier request with the same idempotency key got first. */
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

/** @param traceparent what the call belongs to */
export function originMetadata(origin: CallOrigin | undefined, traceparent = origin?.traceparent): Metadata {
  const metadata = new Metadata();
  if (origin) metadata.set(REQUEST_ID, origin.requestId);
  if (traceparent && isTraceparent(traceparent)) metadata.set(TRACEPARENT, traceparent);
  return metadata;
}

export function readOrigin(metadata: Metadata): { requestId: string; traceparent: string | undefined } {
  const requestId = metadata.get(REQUEST_ID)[0];
  const traceparent = metadata.get(TRACEPARENT)[0];
  return {
    requestId: typeof requestId === "string" ? requestId : Bun.randomUUIDv7(),
    traceparent: typeof traceparent === "string" ? traceparent : undefined,
  };
}
