import type { WatchConversationsRequest } from "@parley/proto/parley/conversation/v1/live.ts";
import { ServiceError } from "@parley/shared/errors";
import type { CallOrigin } from "@parley/shared/rpc/call";
import type { Clients } from "../clients.ts";
import type { GateContext } from "../gate.ts";
import { presentTold, type Told } from "../present/live.ts";
import { problemOf } from "../problem.ts";
import { eventStream } from "./event-stream.ts";
import { watch } from "./watch.ts";

export interface EventsTo {
  request: Request;
  origin: CallOrigin;
  headers: Headers;
  /** Throws ServiceError when the client may not watch anymore. */
  check(): Promise<unknown>;
  checkEveryMs?: number;
  /** Whose streams are counted together; the owner's if missing. */
  countedAs?: string;
  present?(told: Told): { event: string; data: object } | null;
}

/** A key that is revoked has its streams ended within 5 s. */
const CHECK_EVERY_MS = 2_000;

/** What happens in a conversation, or which begin and end, as server-sent events (docs/live.md). @throws ServiceError */
export async function eventReply(
  gate: Pick<GateContext, "holdOpen" | "streams" | "log">,
  conversations: Clients["conversations"],
  watched: Omit<WatchConversationsRequest, "afterId">,
  {
    request,
    origin,
    headers,
    check,
    checkEveryMs = CHECK_EVERY_MS,
    countedAs = watched.ownerId,
    present = presentTold,
  }: EventsTo,
): Promise<Response> {
  const gone = new AbortController();
  const stream = eventStream(() => gone.abort());
  const forget = gate.streams.enter(countedAs, stream.end);
  const signal = AbortSignal.any([request.signal, gone.signal]);
  const { opened, events } = await watch(
    conversations,
    { ...watched, afterId: request.headers.get("last-event-id") ?? undefined },
    { ...origin, signal },
  ).catch((error) => {
    forget();
    stream.end();
    throw error;
  });
  if (opened.event?.$case === "opened" && opened.event.value.isOver) {
    forget();
    stream.end();
    // By the standard, it tells a browser not to connect again.
    return new Response(null, { status: 204, headers });
  }
  headers.set("Content-Type", "text/event-stream; charset=utf-8");
  // So that nginx passes each event on at once.
  headers.set("X-Accel-Buffering", "no");
  const letGo = gate.holdOpen(request);
  const checking = setInterval(() => check().catch(refuse), checkEveryMs);
  const refuse = (error: unknown) => {
    const isRefused = error instanceof ServiceError && (error.kind === "unauthenticated" || error.kind === "forbidden");
    if (isRefused) stream.fail(error.detail);
  };
  const tell = async () => {
    if (opened.id !== "") stream.mark(opened.id);
    for await (const told of events) {
      if (told.event?.$case === "closed") return stream.fail(told.event.value.reason);
      const shown = present(told);
      if (shown) stream.tell(shown.event, shown.data, told.id);
    }
  };
  tell()
    .catch((error: unknown) => {
      if (signal.aborted) return;
      gate.log.warn({ request_id: origin.requestId, owner_id: watched.ownerId, err: error }, "watching broke off");
      stream.fail(problemOf(error, origin.requestId).body.detail);
    })
    .finally(() => {
      clearInterval(checking);
      forget();
      stream.end();
      letGo();
    });
  return new Response(stream.body, { headers });
}
