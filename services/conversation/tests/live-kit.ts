import { expect } from "bun:test";
import type { WatchConversationsResponse } from "@parley/proto/parley/conversation/v1/live.ts";
import { eventually } from "@parley/testkit/eventually";
import type { ChatClient, TestAgent } from "./kit.ts";

/** One watcher of a conversation, or of all of an owner's. */
export interface Watcher {
  /** What it was told, in order. */
  told: WatchConversationsResponse[];
  /** Its events in short, such as `message 2: Hello.` */
  short(): string[];
  /** Leaves, and settles once nothing more is told. */
  leave(): Promise<void>;
  /** Settles when the stream ends. */
  over: Promise<void>;
}

/** @param after the id of the last event that it knows */
export function watch(
  chat: ChatClient,
  { ownerId }: Pick<TestAgent, "ownerId">,
  conversationId: string | undefined,
  { after, withoutWords = false }: { after?: string | undefined; withoutWords?: boolean } = {},
): Watcher {
  const gone = new AbortController();
  const told: WatchConversationsResponse[] = [];
  const origin = { requestId: "watch", signal: gone.signal };
  const read = async () => {
    const stream = chat.watchConversations({ ownerId, conversationId, afterId: after, withoutWords }, { origin });
    for await (const event of stream) told.push(event);
  };
  const over = read().catch((error) => {
    if (!gone.signal.aborted) throw error;
  });
  over.catch(() => {});
  return {
    told,
    short: () => told.map(shortOf).filter((text) => text !== "opened"),
    leave: () => {
      gone.abort();
      return over;
    },
    over,
  };
}

/** Waits until it is told this, in short. */
export function isTold(watcher: Watcher, text: string): Promise<void> {
  return eventually(() => expect(watcher.short()).toContain(text));
}

export function shortOf({ event }: WatchConversationsResponse): string {
  switch (event?.$case) {
    case "message":
      return `message ${event.value.seq}: ${event.value.message?.content}`;
    case "words":
      return `words ${event.value.seq} at ${event.value.offset}: ${event.value.text}`;
    case "toolCall":
    case "toolResult":
      return `${event.$case} ${event.value.toolCall?.name}`;
    case "started":
    case "ended":
      return `${event.$case} ${event.value.conversationId}`;
    default:
      return event?.$case ?? "";
  }
}
