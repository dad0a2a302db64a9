import {
  AgentState,
  type ConversationSnapshot,
  type ToldWords,
  type WatchConversationsRequest,
  type WatchConversationsResponse,
} from "@parley/proto/parley/conversation/v1/live.ts";
import type { Database } from "@parley/shared/db/database";
import type { ConversationContext } from "../context.ts";
import { toConversation } from "../convert.ts";
import { readConversation } from "../lists/read-conversation.ts";
import { EVERY_PART, readTranscript } from "../lists/read-transcript.ts";
import { findConversation } from "../store/conversations.ts";
import {
  EVERYTHING,
  findTopic,
  listEventsAfter,
  listOpenWords,
  type Topic,
  watchConversation,
  watchEverything,
} from "../store/live.ts";
import { BATCH } from "./live.ts";
import { operatorState } from "./operator-state.ts";
import { toldEvents, wordsOf } from "./told-events.ts";

type Context = Pick<ConversationContext, "db" | "clock" | "live">;
type Told = WatchConversationsResponse;

const opened = (isOver: boolean, id = ""): Told => ({ id, event: { $case: "opened", value: { isOver } } });
/** The id of the end of a conversation whose events are not known anymore. */
const ENDED = "ended";

/**
 * Tells what happens in a conversation, from a snapshot or from an event on, until it has ended or the signal fires.
 * @throws ServiceError not_found or forbidden before the first event
 */
export async function* watchOne(
  ctx: ConversationContext,
  { ownerId, conversationId = "", afterId, withoutWords }: WatchConversationsRequest,
  signal: AbortSignal,
): AsyncGenerator<Told> {
  const { type } = await readConversation(ctx, { ownerId, conversationId }, "Conversation");
  const topic = { ownerId, conversationId: conversationId.toLowerCase() };
  const withWords = !withoutWords;
  const isCall = type !== "CHAT" && type !== "WHATSAPP";
  const renew = async () => {
    const isWatched = await watchConversation(ctx.db, topic, ctx.live.watching(withWords), ctx.clock.now());
    // The process that holds the call then reports what is said. Without it, whole messages are told.
    if (isWatched && withWords && isCall)
      ctx.commandCall({ ...topic, command: { $case: "watch", value: true } }).catch(() => {});
    return isWatched;
  };
  const isRunning = await renew();
  const known = await knownAfter(ctx.db, topic, afterId);
  const isOver = !isRunning && (await knowsEnd(ctx.db, topic, afterId, known));
  yield opened(isOver);
  if (isOver) return;
  if (!isRunning && known === null) return yield* ended(ctx, topic);
  let after = known;
  if (after === null) {
    const snapshot = await readSnapshot(ctx, topic);
    // Deleted in the meantime.
    if (snapshot === null) return;
    yield { id: String(snapshot.number), event: { $case: "snapshot", value: snapshot.snapshot } };
    after = snapshot.number;
  }
  yield* follow(ctx, topic, { withWords, after, renew }, signal);
}

/** Tells which of an owner's conversations begin and end, from now or from an event on. */
export async function* watchAll(
  ctx: Context,
  { ownerId, afterId }: WatchConversationsRequest,
  signal: AbortSignal,
): AsyncGenerator<Told> {
  const topic = { ownerId, conversationId: EVERYTHING };
  const renew = () => watchEverything(ctx.db, ownerId, ctx.live.watching(true), ctx.clock.now());
  await renew();
  const known = await knownAfter(ctx.db, topic, afterId);
  const after = known ?? (await findTopic(ctx.db, topic))?.number ?? 0;
  yield opened(false, String(after));
  yield* follow(ctx, topic, { withWords: true, after, renew }, signal);
}

/** The number of the event with this id; null if what follows it is not known completely. */
async function knownAfter(db: Database, topic: Topic, afterId: string | undefined): Promise<number | null> {
  const after = Number(afterId);
  if (afterId === undefined || !/^\d{1,15}$/.test(afterId)) return null;
  return (await listEventsAfter(db, topic, after, 1)) && after;
}

/** Whether a watcher has seen the end of a conversation that has ended. */
async function knowsEnd(db: Database, topic: Topic, afterId: string | undefined, known: number | null) {
  return afterId === ENDED || (known !== null && (await findTopic(db, topic))?.number === known);
}

async function* follow(
  { db, live }: Context,
  topic: Topic,
  follower: { withWords: boolean; after: number; renew(): Promise<unknown> },
  signal: AbortSignal,
): AsyncGenerator<Told> {
  const { mailbox, position, leave } = live.follow(topic, follower);
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  let newest = follower.after;
  try {
    while (newest < position) {
      const rows = await listEventsAfter(db, topic, newest, BATCH);
      if (rows === null) return;
      for (const told of await toldEvents(db, topic, rows)) {
        newest = Number(told.id);
        if (told.event) yield told;
        if (isEnd(told, topic)) return;
      }
    }
    for await (const told of mailbox) {
      if (told.id !== "" && Number(told.id) <= newest) continue;
      if (told.event) yield told;
      if (isEnd(told, topic)) return;
    }
  } finally {
    signal.removeEventListener("abort", leave);
    leave();
  }
}

function isEnd({ event }: Told, { conversationId }: Topic): boolean {
  return event?.$case === "closed" || (event?.$case === "ended" && conversationId !== EVERYTHING);
}

/** A conversation that has ended, to somebody who has not seen its end. */
async function* ended(ctx: ConversationContext, topic: Topic): AsyncGenerator<Told> {
  const row = await findConversation(ctx.db, topic, ctx.clock.now());
  if (!row) return;
  const messages = await readTranscript(ctx.db, row, EVERY_PART, ctx.clock.now());
  const snapshot = { conversation: toConversation(row, messages), state: stateOf(row), words: [] };
  yield { id: ENDED, event: { $case: "snapshot", value: snapshot } };
  yield { id: ENDED, event: { $case: "ended", value: toConversation(row, []) } };
}

/** What the conversation is at one moment, with the number of the last event that it includes; null if it is gone. */
function readSnapshot(
  { db, clock }: Pick<Context, "db" | "clock">,
  topic: Topic,
): Promise<{ number: number; snapshot: ConversationSnapshot } | null> {
  return db.begin("isolation level repeatable read read only", async (tx) => {
    const found = await findTopic(tx, topic);
    const row = await findConversation(tx, topic, clock.now());
    if (!found || !row) return null;
    const messages = await readTranscript(tx, row, EVERY_PART, clock.now());
    const open = await listOpenWords(tx, topic, found.toldSeq);
    const whole = messages.filter(({ seq }) => seq <= found.toldSeq);
    const words = soFar(open.map(({ data }) => wordsOf(data)));
    return { number: found.number, snapshot: { conversation: toConversation(row, whole), state: stateOf(row), words } };
  }) as Promise<{ number: number; snapshot: ConversationSnapshot } | null>;
}

function stateOf(row: Parameters<typeof operatorState>[0]) {
  return { agent: AgentState.AGENT_STATE_UNSPECIFIED, operator: operatorState(row) };
}

/** Words of messages in progress, put together: one a message. */
function soFar(told: readonly ToldWords[]): ToldWords[] {
  const messages = new Map<string, ToldWords>();
  for (const words of told) {
    const name = `${words.seq} ${words.role}`;
    const before = [...(messages.get(name)?.text ?? "")].slice(0, words.offset).join("");
    messages.set(name, { ...words, offset: 0, text: before + words.text });
  }
  return [...messages.values()];
}
