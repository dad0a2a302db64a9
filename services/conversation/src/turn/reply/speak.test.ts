import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { ServiceError } from "@parley/shared/errors";
import { failureOf } from "@parley/testkit/failures";
import type { ModelMessage, ToolCall } from "../../model/port.ts";
import { watchModel } from "../../model/watch.ts";
import { emptyReply } from "./reply.ts";
import { type Speaking, speak } from "./speak.ts";

afterEach(() => mock.restore());

const AGENT = AgentRuntime.fromPartial({});
const HI: ModelMessage = { role: "user", content: "Hi" };
const request = (said: readonly ModelMessage[]) => ({ system: "", messages: [HI, ...said], tools: [] });
const answer = (calls: readonly ToolCall[]) =>
  calls.map((call) => ({ ...call, result: "There is no such tool.", isError: true }));

test("the time to the first word is that of all questions until it comes, and no other piece's is", async () => {
  let nowMs = 0;
  spyOn(performance, "now").mockImplementation(() => nowMs);
  const by = { provider: "CUSTOM_LLM", name: "m" };
  const limits = { deadlineMs: 60_000, stallMs: 30_000, wholeMs: 600_000, charactersMax: 1_000 };
  const stays = new AbortController().signal;
  const watch = watchModel(() => by.provider, limits, { clientGone: stays, cutOff: stays });
  const within: (number | undefined)[] = [];
  const speaking: Speaking = {
    ask: async ({ firstWordMs }, hear) => {
      within.push(firstWordMs);
      nowMs += 2_000;
      const isFirst = within.length === 1;
      if (!isFirst) await hear("Hello. ", by);
      const call = { name: "unknown", json: "{}", input: {} };
      const usage = { inputTokens: 1, outputTokens: 1 };
      return { by, toolCalls: within.length < 3 ? [call] : [], usage, partialReason: null };
    },
    request,
    tools: { answer },
    farewell: () => "Goodbye!",
    handOver: () => null,
    watch,
    hasRoom: () => true,
    limits,
    say: () => null,
  };
  try {
    await speak(emptyReply(AGENT, by), speaking);
  } finally {
    watch.done();
  }
  expect(within).toEqual([60_000, 58_000, 30_000]);
});

test.each([
  ["is too long", { charactersMax: 10 }, {}, "upstream_failed"],
  ["finds no room", {}, { hasRoom: () => false }, "rate_limited"],
  ["breaks off after its words", {}, {}, "unavailable"],
])(
  "a reply that %s while its reader is behind fails once, also when the reader is given up",
  async (_, limit, more, kind) => {
    const by = { provider: "CUSTOM_LLM", name: "m" };
    const limits = { deadlineMs: 60_000, stallMs: 30_000, wholeMs: 600_000, charactersMax: 1_000, ...limit };
    const stays = new AbortController().signal;
    const watch = watchModel(() => by.provider, limits, { clientGone: stays, cutOff: stays });
    const reader = Promise.withResolvers<void>();
    const speaking: Speaking = {
      // As a model does whose answer fails in the piece that brought the words.
      ask: async (_request, hear) => {
        hear("Many words of an answer. ", by);
        throw new ServiceError("unavailable", "The answer broke off");
      },
      request,
      tools: { answer },
      farewell: () => "Goodbye!",
      handOver: () => null,
      watch,
      hasRoom: () => true,
      limits,
      say: () => reader.promise,
      ...more,
    };
    try {
      expect(await failureOf(speak(emptyReply(AGENT, by), speaking))).toMatchObject({ kind });
      // Unhandled, it would fail this test, and end the process of a service.
      reader.reject(new ServiceError("cancelled", "The reply was read too slowly"));
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      watch.done();
    }
  },
);

test("tool calls, which go back to the model, take room like a reply", async () => {
  const by = { provider: "CUSTOM_LLM", name: "m" };
  const limits = { deadlineMs: 60_000, stallMs: 30_000, wholeMs: 600_000, charactersMax: 1_000 };
  const stays = new AbortController().signal;
  const watch = watchModel(() => by.provider, limits, { clientGone: stays, cutOff: stays });
  const json = JSON.stringify({ text: "t".repeat(10_000) });
  let asked = 0;
  const speaking: Speaking = {
    ask: async () => {
      asked++;
      const usage = { inputTokens: undefined, outputTokens: undefined };
      return { by, toolCalls: [{ name: "unknown", json, input: JSON.parse(json) }], usage, partialReason: null };
    },
    request,
    tools: { answer },
    farewell: () => "Goodbye!",
    handOver: () => null,
    watch,
    hasRoom: (characters) => characters < 30_000,
    limits,
    say: () => null,
  };
  try {
    expect(await failureOf(speak(emptyReply(AGENT, by), speaking))).toMatchObject({ kind: "rate_limited" });
  } finally {
    watch.done();
  }
  expect(asked).toBe(2);
});
