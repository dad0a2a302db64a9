import type { AppendTranscriptRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid, ServiceError } from "@parley/shared/errors";
import { type Bounds, readAhead } from "../calls/read-ahead.ts";
import { readCall } from "../calls/read-call.ts";
import { takeMessages, withLastSequence } from "../calls/transcript.ts";
import type { ConversationContext, Handler } from "../context.ts";
import { appendMessages } from "../store/calls.ts";
import type { SessionKey } from "../store/session-key.ts";

const BOUNDS: Bounds<AppendTranscriptRequest> = {
  itemsMax: 500,
  sizeMax: 1_000_000,
  sizeOf: ({ message }) => message?.content.length ?? 0,
};

/** Stores messages in batches and reads on only afterwards, which holds back a runtime that is faster than the database. */
export function appendTranscript(ctx: ConversationContext): Handler<"appendTranscript"> {
  return async (requests, { stopping }) => {
    let key: SessionKey | null = null;
    let lastSequence = 0;
    for await (const batch of readAhead(requests, BOUNDS, stopping)) {
      if (!key) {
        key = keyOf(batch);
        lastSequence = await findLastSequence(ctx, key);
      }
      lastSequence = await store(ctx, key, batch, lastSequence);
    }
    if (stopping.aborted) throw key ? withLastSequence(isStopping(), lastSequence) : isStopping();
    if (!key) throw invalid("sequence", "The stream must carry at least one message");
    return { lastSequence };
  };
}

/** @returns the sequence of the newest stored message */
async function store(
  ctx: ConversationContext,
  key: SessionKey,
  batch: readonly AppendTranscriptRequest[],
  lastSequence: number,
): Promise<number> {
  const other = batch.findIndex((request) => !isOf(key, request));
  const now = ctx.clock.now();
  const { messages, refusal } = takeMessages(other === -1 ? batch : batch.slice(0, other), lastSequence, now);
  const stored = lastSequence + messages.length;
  if (messages.length > 0 && !(await appendMessages(ctx.db, key, lastSequence, messages, now))) {
    // Another stream was faster, perhaps the runtime's own from before a crash: skip what it stored.
    return store(ctx, key, batch, await findLastSequence(ctx, key));
  }
  if (refusal) throw refusal;
  if (other !== -1) throw withLastSequence(mixed(), stored);
  return stored;
}

/** @throws ServiceError not_found, forbidden, or condition when the conversation has ended */
async function findLastSequence(ctx: ConversationContext, key: SessionKey): Promise<number> {
  const { status, messageCount } = await readCall(ctx, key);
  if (status === "IN_PROGRESS") return messageCount;
  throw withLastSequence(new ServiceError("condition", `Conversation has ended: it is ${status}`), messageCount);
}

function keyOf([first]: readonly AppendTranscriptRequest[]): SessionKey {
  return { ownerId: first?.ownerId ?? "", conversationId: first?.conversationId ?? "" };
}

function isOf(key: SessionKey, { ownerId, conversationId }: AppendTranscriptRequest): boolean {
  return key.ownerId === ownerId && key.conversationId === conversationId;
}

function mixed(): ServiceError {
  return invalid("conversation_id", "conversation_id and owner_id must be the same in all messages of a stream");
}

function isStopping(): ServiceError {
  return new ServiceError("unavailable", "The service is stopping: continue in a new stream", { retryAfterMs: 0 });
}
