import { ServiceError } from "@parley/shared/errors";
import type { CallOrigin } from "@parley/shared/rpc/call";
import type { GateContext } from "../gate.ts";
import { problemOf } from "../problem.ts";
import { type EventStream, eventStream } from "./event-stream.ts";

/** A stream of server-sent events that is open, or about to be. */
interface OpenEvents {
  stream: EventStream;
  /** Fires when nobody reads anymore. */
  signal: AbortSignal;
  /** Ends the stream before anything was answered. */
  close(): void;
}

/**
 * Opens a stream of events that is counted.
 * @param countedAs whose streams are counted together
 * @throws ServiceError as `EventStreams.enter` does
 */
export function openEvents(gate: Pick<GateContext, "streams">, request: Request, countedAs: string): OpenEvents {
  const gone = new AbortController();
  const stream = eventStream(() => gone.abort());
  const forget = gate.streams.enter(countedAs, stream.end);
  return {
    stream,
    signal: AbortSignal.any([request.signal, gone.signal]),
    close: () => {
      forget();
      stream.end();
    },
  };
}

interface To {
  request: Request;
  origin: CallOrigin;
  headers: Headers;
  /** Throws ServiceError when the client may not watch anymore. */
  check(): Promise<unknown>;
  checkEveryMs?: number | undefined;
}

/** A key that is revoked has its streams ended within 5 s. */
const CHECK_EVERY_MS = 2_000;

/** Answers with the stream, which ends when all has been told, or with why it could not be. */
export function replyWith(
  gate: Pick<GateContext, "holdOpen" | "log">,
  { stream, signal, close }: OpenEvents,
  { request, origin, headers, check, checkEveryMs = CHECK_EVERY_MS }: To,
  tell: () => Promise<void>,
): Response {
  headers.set("Content-Type", "text/event-stream; charset=utf-8");
  // So that nginx passes each event on at once.
  headers.set("X-Accel-Buffering", "no");
  const letGo = gate.holdOpen(request);
  const checking = setInterval(() => check().catch(refuse), checkEveryMs);
  const refuse = (error: unknown) => {
    const isRefused = error instanceof ServiceError && (error.kind === "unauthenticated" || error.kind === "forbidden");
    if (isRefused) stream.fail(error.detail);
  };
  tell()
    .catch((error: unknown) => {
      if (signal.aborted) return;
      gate.log.warn({ request_id: origin.requestId, err: error }, "watching broke off");
      stream.fail(problemOf(error, origin.requestId).body.detail);
    })
    .finally(() => {
      clearInterval(checking);
      close();
      letGo();
    });
  return new Response(stream.body, { headers });
}
