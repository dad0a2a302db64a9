import { expect, test } from "bun:test";
import { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { ModelTool } from "../../model/port.ts";
import { roomFor } from "../turn-memory.ts";
import { modelRequest } from "./model-request.ts";

const tools = (bytes: number): ModelTool[] => [
  { name: "find", description: "x".repeat(bytes), inputSchema: { type: "object" } },
];

function requestWith(definitions: readonly ModelTool[]) {
  return modelRequest({
    knowledge: "",
    agent: AgentRuntime.fromPartial({ prompt: { promptContent: "Be brief." } }),
    variables: {},
    language: null,
    channel: { name: "chat", note: "" },
    toolbox: { definitions, find: () => undefined },
    earlier: ["One", "Two", "Three"].map((content) => ({ role: "user", content })),
    said: [],
    contextTokens: 1_000,
  });
}

test("the definitions of tools take their room in the context window from the oldest messages", () => {
  expect(requestWith([]).messages).toHaveLength(3);
  expect(requestWith(tools(3_850)).messages.map(({ content }) => content)).toEqual(["Two", "Three"]);
  expect(requestWith(tools(100_000)).messages.map(({ content }) => content)).toEqual(["Three"]);
});

test("the definitions of tools count in the memory of their turn", () => {
  let held = 0;
  const holds = (bytes: number) => {
    held = bytes;
    return true;
  };
  roomFor({ holds, release: () => {} }, requestWith(tools(100_000)))(0);
  expect(held).toBeGreaterThan(200_000);
});
