import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { eventually } from "@parley/shared/testing/eventually";
import type { Asked, Model, ModelRequest } from "../../model/port.ts";
import { requestAhead } from "./request-ahead.ts";
import { CHAT_TOOLS } from "./tools.ts";

const TURN = { ownerId: "own_1", message: "Hi", metadata: { dynamic_variables: { name: "Ada" } } } as unknown as Turn;
const CHANNEL = { toolbox: CHAT_TOOLS, note: "" };

function ahead(promptContent: string, enter: () => Promise<void> | null = () => null, turn = TURN) {
  const written: [ModelRequest, Asked][] = [];
  const model = { write: (...request: [ModelRequest, Asked]) => void written.push(request) } as unknown as Model;
  const agent = { prompt: { promptContent } } as unknown as AgentRuntime;
  return { written, request: requestAhead({ agent, model }, turn, 8_000, CHANNEL, "whole", enter) };
}

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await setImmediate();
}

test("a new session's request is written while its message is stored, and is the one that the turn makes", async () => {
  const { written, request } = ahead("You are {{name}}.");
  await eventually(() => expect(written).toHaveLength(1));
  const [[made, asked] = []] = written;
  expect(asked).toBe("whole");
  expect(made).toMatchObject({ system: "You are Ada.", messages: [{ role: "user", content: "Hi" }] });
  expect(request.take()).toBe(made as ModelRequest);
});

test("a request whose turn goes on before it was made, or while it waits for the loop, is not made", async () => {
  const early = ahead("You are {{name}}.");
  expect(early.request.take()).toBeNull();
  const goOn = Promise.withResolvers<void>();
  const waiting = ahead("You are {{name}}.", () => goOn.promise);
  await someTurns();
  expect(waiting.request.take()).toBeNull();
  goOn.resolve();
  await someTurns();
  expect([early.written, waiting.written]).toEqual([[], []]);
});

test("a prompt that is long, or that its variables make long, is not written ahead", async () => {
  const metadata = { dynamic_variables: { name: "Ada".repeat(1_000) } };
  const long = ahead("a".repeat(20_000));
  const filled = ahead("{{name}} ".repeat(10), undefined, { ...TURN, metadata });
  await someTurns();
  expect([long.request.take(), filled.request.take()]).toEqual([null, null]);
  expect([long.written, filled.written]).toEqual([[], []]);
});
