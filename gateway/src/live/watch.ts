import type {
  WatchConversationsRequest,
  WatchConversationsResponse,
} from "@parley/proto/parley/conversation/v1/live.ts";
import { ServiceError } from "@parley/shared/errors";
import type { CallOrigin } from "@parley/shared/rpc/call";
import type { Clients } from "../clients.ts";

type Told = WatchConversationsResponse;

/** What is watched, once the conversation service has found it. */
interface Watched {
  opened: Told;
  /** What happens, also when the replica that tells it stops. @throws ServiceError when none tells it anymore */
  events: AsyncGenerator<Told>;
}

const RETRY_MS = 250;
/** How long another replica is looked for. */
const PATIENCE_MS = 10_000;

/** @throws ServiceError not_found or forbidden */
export async function watch(
  conversations: Pick<Clients["conversations"], "watchConversations">,
  request: WatchConversationsRequest,
  origin: CallOrigin,
): Promise<Watched> {
  const begin = (afterId: string | undefined) =>
    conversations.watchConversations({ ...request, afterId }, { origin })[Symbol.asyncIterator]();
  const first = begin(request.afterId);
  const { value: opened } = await first.next();
  if (!opened) throw new ServiceError("unavailable", "The conversation service is stopping. Try again.");
  return { opened, events: events(first, opened.id || request.afterId) };

  async function* events(running: AsyncIterator<Told>, known: string | undefined): AsyncGenerator<Told> {
    let afterId = known;
    let stream = running;
    let lostAt: number | null = null;
    for (;;) {
      try {
        for (let next = await stream.next(); !next.done; next = await stream.next()) {
          lostAt = null;
          if (next.value.id !== "") afterId = next.value.id;
          if (next.value.event?.$case !== "opened") yield next.value;
          else if (next.value.event.value.isOver) return;
          if (isLast(next.value, request)) return;
        }
      } catch (error) {
        lostAt ??= performance.now();
        const isPatient = performance.now() - lostAt < PATIENCE_MS;
        if (!(error instanceof ServiceError) || error.kind !== "unavailable" || !isPatient) throw error;
      } finally {
        void stream.return?.();
      }
      if (origin.signal?.aborted) return;
      await Bun.sleep(RETRY_MS);
      stream = begin(afterId);
    }
  }
}

function isLast({ event }: Told, { conversationId }: WatchConversationsRequest): boolean {
  return event?.$case === "closed" || (event?.$case === "ended" && conversationId !== undefined);
}
