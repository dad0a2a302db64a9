import { describe, expect, test } from "bun:test";
import { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { ConversationRow } from "../store/conversations.ts";
import type { EndMessage } from "../store/transcript-ends.ts";
import { estimateTokens } from "../turn/ask/context-window.ts";
import { analysisFields } from "./fields.ts";
import { fitTranscript } from "./fit-transcript.ts";
import { analysisRequest } from "./request.ts";

const CONVERSATION = {
  type: "CHAT",
  status: "COMPLETED",
  createdAt: new Date("2026-01-01T12:00:00Z"),
  variables: { name: "Ada" },
} as unknown as ConversationRow;
const MESSAGES = [
  { seq: 1, role: "user", content: "Hi" },
  { seq: 2, role: "assistant", content: "Hello." },
] satisfies EndMessage[];

function prompt(promptContent: string) {
  return { promptName: "p", promptVersion: 1, promptContent };
}

describe("what a model is asked", () => {
  const agent = AgentRuntime.fromPartial({
    prompt: prompt("You serve {{company | Acme}}."),
    analysisPrompt: prompt("Judge how {{company}} served {{Name}}."),
    llm: { providerName: "OPENAI", modelName: "m" },
  });

  test("is the analysis prompt, its variables filled as in the main one, and the transcript", () => {
    const request = analysisRequest(agent, [], CONVERSATION, MESSAGES, 32_000);
    expect(request.system).toStartWith("Judge how Acme served Ada.\n\n");
    expect(request).toMatchObject({ tools: [] });
    expect(request.answer).toBeUndefined();
    expect(request.messages).toEqual([
      {
        role: "user",
        content: "CHAT conversation of 2026-01-01T12:00:00.000Z, COMPLETED\n\nuser: Hi\n\nassistant: Hello.",
      },
    ]);
  });

  test("lists the fields, their types, and the schema if there is one", () => {
    const fields = analysisFields({ mood: { type: "str" }, "is it solved?": { type: "bool" } });
    const request = analysisRequest(agent, fields, CONVERSATION, MESSAGES, 32_000);
    expect(request.system).toEndWith('- "mood": str\n- "field_2" (is it solved?): bool');
    expect(request.answer).toMatchObject({ name: "analysis", schema: { required: ["mood", "field_2"] } });
  });

  test("keeps some of the transcript however long the analysis prompt is", () => {
    const long = { ...agent, analysisPrompt: prompt("x".repeat(200_000)) };
    const [message] = analysisRequest(long, [], CONVERSATION, MESSAGES, 32_000).messages;
    expect(message?.content).toEndWith("user: Hi\n\nassistant: Hello.");
  });
});

describe("a transcript that is too long", () => {
  const cost = (lines: readonly string[]) => lines.reduce((sum, line) => sum + estimateTokens(line), 0);
  const numbered = (texts: readonly string[]) => texts.map((text, at) => ({ seq: at + 1, text }));
  const lines = Array.from({ length: 500 }, (_, at) => `user: message ${at} ${"word ".repeat(at % 7)}`);

  test("keeps its beginning and a longer part of its end, and says what is left out", () => {
    const kept = fitTranscript(numbered(lines), 400);
    const gap = kept.findIndex((line) => line.endsWith("messages left out]"));
    expect(kept[0]).toBe(lines[0]);
    expect(kept.at(-1)).toBe(lines.at(-1));
    expect(kept[gap]).toBe(`[${lines.length - kept.length + 1} messages left out]`);
    expect(cost(kept.slice(0, gap))).toBeLessThanOrEqual(100);
    expect(cost(kept.toSpliced(gap, 1))).toBeLessThanOrEqual(400);
    expect(kept.length - gap).toBeGreaterThan(gap);
  });

  test("is sent in full when it fits", () => {
    expect(fitTranscript(numbered(lines), cost(lines))).toEqual(lines);
    expect(fitTranscript([], 100)).toEqual([]);
  });

  test("with only one message is cut in the middle of that message", () => {
    const [kept = "", ...others] = fitTranscript(numbered([`user: begins ${"word ".repeat(10_000)}ends`]), 800);
    expect(others).toEqual([]);
    expect(kept).toStartWith("user: begins");
    expect(kept).toEndWith("ends");
    expect(kept).toContain(" […] ");
    expect(estimateTokens(kept)).toBeLessThanOrEqual(110);
  });
});
