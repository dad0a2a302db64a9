import { describe, expect, test } from "bun:test";
import { answerReader } from "../src/model/answers/answer-reader.ts";
import { anthropic } from "../src/model/answers/anthropic.ts";
import { chatCompletions } from "../src/model/answers/chat-completions.ts";
import { gemini } from "../src/model/answers/gemini.ts";
import type { Protocol } from "../src/model/answers/protocol.ts";
import { responses } from "../src/model/answers/responses.ts";
import { upstreamReason } from "../src/model/upstream-reason.ts";
import { ANTHROPIC } from "./forms/anthropic.ts";
import { CHAT_COMPLETIONS } from "./forms/chat-completions.ts";
import type { Form, Meaning } from "./forms/form.ts";
import { GEMINI } from "./forms/gemini.ts";
import { RESPONSES } from "./forms/responses.ts";

const BY = { provider: "CUSTOM_LLM", name: "m" };

/** Reads a body that arrives in pieces of this many bytes. */
function read(protocol: Protocol, body: string, pieceBytes: number): Meaning {
  const reasonIn = (error: unknown) => upstreamReason(error, []);
  const reader = answerReader({ by: BY, protocol, mayBeEmpty: false, reasonIn });
  const bytes = new TextEncoder().encode(body);
  const decoder = new TextDecoder();
  let text = "";
  const words = () => (text === "" ? {} : { text });
  try {
    for (let at = 0; at < bytes.length && !reader.isOver; at += pieceBytes) {
      text += reader.read(decoder.decode(bytes.subarray(at, at + pieceBytes), { stream: true }));
      if (reader.failure) throw reader.failure;
    }
    const { text: rest, toolCalls, usage, partialReason } = reader.end();
    text += rest;
    return {
      ...words(),
      ...(toolCalls.length > 0 && { calls: toolCalls.map(({ name, json }) => `${name} ${json}`) }),
      usage: [usage.inputTokens, usage.outputTokens],
      ...(partialReason !== null && { partial: partialReason }),
    };
  } catch (error) {
    const { detail = "" } = error as { detail?: string };
    return { ...words(), fails: detail.replace("The CUSTOM_LLM model provider ", "") || UNREADABLE };
  }
}

const UNREADABLE = "gave an answer that cannot be read";

const PROTOCOLS: [string, Protocol, readonly Form[]][] = [
  ["chat completions", chatCompletions, CHAT_COMPLETIONS],
  ["Anthropic", anthropic, ANTHROPIC],
  ["Gemini", gemini, GEMINI],
  ["Responses", responses, RESPONSES],
];

describe.each(PROTOCOLS)("an answer of %s", (_, protocol, forms) => {
  test.each(forms.map(({ name, body, means }) => ({ name, body, means })))(
    "is understood, however it is cut into pieces: $name",
    ({ body, means }) => {
      for (const pieceBytes of [1e9, 100, 7, 1]) {
        const { usage, ...meant } = read(protocol, body, pieceBytes);
        expect(meant).toEqual({ ...means, usage: undefined } as never);
        if (means.usage) expect(usage).toEqual(means.usage);
      }
    },
  );
});
