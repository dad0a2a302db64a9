import { expect, test } from "bun:test";
import { join } from "node:path";
import type { components } from "../../../api/gen/schema.ts";
import { Problem } from "../../../api/problem.ts";
import type { Filters } from "../filters.ts";

// Its types are those of browsers.
const { conversationsCsv, EXPORTED_MAX, readAll } = await import(join(import.meta.dir, "export.ts"));

type Conversation = components["schemas"]["Conversation"];

const NOW = new Date("2026-02-01T12:00:00.000Z");

function conversation(given: Partial<Conversation> = {}): Conversation {
  return {
    id: "cnv_1",
    conversation_id: "c1",
    agent_id: "agt_1",
    agent_version: 3,
    agent_path: [{ agent_id: "agt_1", agent_version: 3, from_seq: 1 }],
    conversation_type: "TELEPHONY",
    conversation_status: "DISCONNECTED",
    conversation_analysis: null,
    notes: null,
    conversation_transcript: null,
    created_by: null,
    conversation_metadata: {},
    created_at: "2026-01-31T09:30:00.000Z",
    updated_at: "2026-01-31T09:30:00.000Z",
    ...given,
  };
}

test("an export reads every page of the same moment, and none twice", async () => {
  const asked: [Filters, Date][] = [];
  const { conversations } = await readAll(
    async (filters: Filters, until: Date) => {
      asked.push([filters, until]);
      const size = filters.page === 3 ? 1 : 2;
      return { total: 5, conversations: Array.from({ length: size }, () => conversation()) };
    },
    { search: "order", page: 2 },
    NOW,
  );
  expect(asked).toEqual([1, 2, 3].map((page) => [{ search: "order", page }, NOW]));
  expect(conversations).toHaveLength(5);
});

test("an export that is refused as too fast waits as long as it is told, and goes on", async () => {
  const waited: number[] = [];
  let attempts = 0;
  const { conversations } = await readAll(
    async () => {
      if (++attempts === 1) throw new Problem(429, "Too many requests", new Map(), 7);
      return { total: 1, conversations: [conversation()] };
    },
    {},
    NOW,
    undefined,
    async (seconds: number) => {
      waited.push(seconds);
    },
  );
  expect([waited, conversations.length]).toEqual([[7], 1]);
});

test("an export ends with the newest conversations that it may have, and when the list becomes shorter", async () => {
  const pages = (size: number) => async () => ({
    total: EXPORTED_MAX + 5,
    conversations: Array.from({ length: size }, () => conversation()),
  });
  expect((await readAll(pages(999), {}, NOW)).conversations).toHaveLength(EXPORTED_MAX);
  expect((await readAll(pages(0), {}, NOW)).conversations).toHaveLength(0);
});

test("a conversation's line has its agent's version, its number, direction, outcome, notes, duration and cost, and no formula", () => {
  const usage = { replies: 2, input_tokens: 1, output_tokens: 1, mean_first_word_ms: 1, mean_total_ms: 1 };
  const busy = conversation({
    calling_type: "OUTBOUND",
    mobile_number: "+14155550123",
    outcome: "BUSY",
    notes: "=HYPERLINK(1)",
    duration: 12.5,
    usage: { ...usage, cost_usd_micros: 1_250, unpriced_replies: 0 },
    conversation_transcript: [{ role: "user", content: "@Ada", timestamp: "" }],
  });
  const names = { byId: new Map([["agt_1", "-Desk"]]), areAll: true };
  expect(conversationsCsv([busy], names).split("\r\n")[1]).toBe(
    "c1,2026-01-31T09:30:00.000Z,'@Ada,'-Desk,3,Phone,Outbound,'+14155550123,Busy,'=HYPERLINK(1),1,12.5,0.00125,no",
  );
});
