import type { WatchConversationsRequest } from "@parley/proto/parley/conversation/v1/live.ts";
import type { CallOrigin } from "@parley/shared/rpc/call";
import type { Clients } from "../clients.ts";
import type { GateContext } from "../gate.ts";
import { presentTold, type Told } from "../present/live.ts";
import { openEvents, replyWith } from "./open-events.ts";
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

/** What happens in a conversation, or which begin and end, as server-sent events (docs/live.md). @throws ServiceError */
export async function watchReply(
  gate: Pick<GateContext, "holdOpen" | "streams" | "log">,
  conversations: Clients["conversations"],
  watched: Omit<WatchConversationsRequest, "afterId">,
  { request, origin, headers, check, checkEveryMs, countedAs = watched.ownerId, present = presentTold }: EventsTo,
): Promise<Response> {
  const open = openEvents(gate, request, countedAs);
  const { stream, signal } = open;
  const { opened, events } = await watch(
    conversations,
    { ...watched, afterId: request.headers.get("last-event-id") ?? undefined },
    { ...origin, signal },
  ).catch((error) => {
    open.close();
    throw error;
  });
  if (opened.event?.$case === "opened" && opened.event.value.isOver) {
    open.close();
    // By the standard, it tells a browser not to connect again.
    return new Response(null, { status: 204, headers });
  }
  return replyWith(gate, open, { request, origin, headers, check, checkEveryMs }, async () => {
    if (opened.id !== "") stream.mark(opened.id);
    for await (const told of events) {
      if (told.event?.$case === "closed") return stream.fail(told.event.value.reason);
      const shown = present(told);
      if (shown) stream.tell(shown.event, shown.data, told.id);
    }
  });
}
