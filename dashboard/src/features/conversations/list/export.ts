import { Problem } from "../../../api/problem.ts";
import { type AgentNames, nameOfAgent } from "../../agents/agents.ts";
import { isUnknown } from "../../statistics/costs.ts";
import type { Filters } from "../filters.ts";
import { CHANNELS, DIRECTIONS, isTest, standingOf } from "../names.tsx";
import { openingOf } from "../opening.ts";
import type { Conversation } from "../queries.ts";
import { csvOf } from "./csv.ts";

/** Conversations in a file, the newest: a hundred pages of the API. */
export const EXPORTED_MAX = 10_000;
export const EXPORT_PAGE_SIZE = 100;

/** Reads a page of the list, of conversations that began until a moment. */
export type ReadPage = (
  filters: Filters,
  until: Date,
) => Promise<{ conversations: readonly Conversation[]; total: number }>;

/**
 * Reads all conversations that match, the newest if there are more than `EXPORTED_MAX`. Waits as long as the API asks for when there
 * are too many requests.
 * @param now later conversations are left out, so that those which begin meanwhile do not move others to the next page
 * @param onRead told how many were read, and how many will be
 */
export async function readAll(
  read: ReadPage,
  filters: Filters,
  now: Date,
  onRead: (done: number, total: number) => void = () => {},
  wait = (seconds: number) => new Promise<void>((resolve) => setTimeout(resolve, seconds * 1_000)),
): Promise<{ conversations: Conversation[]; total: number }> {
  const conversations: Conversation[] = [];
  for (let page = 1; ; ) {
    try {
      const found = await read({ ...filters, page }, now);
      conversations.push(...found.conversations);
      const all = Math.min(found.total, EXPORTED_MAX);
      onRead(conversations.length, all);
      if (found.conversations.length === 0 || conversations.length >= all)
        return { conversations: conversations.slice(0, EXPORTED_MAX), total: found.total };
      page++;
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 429) throw error;
      await wait(Math.max(1, error.retryAfterSeconds));
    }
  }
}

const HEADINGS = [
  "Conversation ID",
  "Started (UTC)",
  "Conversation",
  "Agent",
  "Version",
  "Channel",
  "Direction",
  "Number",
  "Status",
  "Notes",
  "Messages",
  "Duration (s)",
  "Cost (USD)",
  "Test",
];

/** The file, with all columns. */
export function conversationsCsv(conversations: readonly Conversation[], names: AgentNames | undefined): string {
  return csvOf([HEADINGS, ...conversations.map((conversation) => rowOf(conversation, names))]);
}

function rowOf(conversation: Conversation, names: AgentNames | undefined): string[] {
  const { calling_type, usage, duration } = conversation;
  return [
    conversation.conversation_id,
    conversation.created_at,
    openingOf(conversation),
    nameOfAgent(names, conversation.agent_id),
    String(conversation.agent_version ?? ""),
    CHANNELS[conversation.conversation_type].label,
    calling_type ? DIRECTIONS[calling_type] : "",
    conversation.mobile_number ?? "",
    standingOf(conversation).label,
    conversation.notes ?? "",
    String(conversation.conversation_transcript?.length ?? 0),
    duration === undefined ? "" : String(duration),
    usage && usage.replies > 0 && !isUnknown(usage) ? String((usage.cost_usd_micros ?? 0) / 1e6) : "",
    isTest(conversation) ? "yes" : "no",
  ];
}
