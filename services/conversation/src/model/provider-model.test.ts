import { expect, test } from "bun:test";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { serviceErrorOf } from "@parley/testkit/failures";
import { TOOL_CALL_CHARACTERS_MAX, TOOL_CALLS_MAX } from "./answers/called-tools.ts";
import { chatCompletions } from "./answers/chat-completions.ts";
import { sendBy } from "./bounded-fetch.ts";
import type { ModelRequest, ReplyMode } from "./port.ts";
import { providerModel } from "./provider-model.ts";
import { onlyWrite, requestWriter } from "./requests/written-request.ts";

const BY = { provider: "CUSTOM_LLM", name: "m" };
const REQUEST: ModelRequest = { system: "", messages: [{ role: "user", content: "Hi" }], tools: [] };

function modelOf(writer: LanguageModelV4, send: (...request: Parameters<typeof fetch>) => Promise<Response>) {
  return providerModel(chatCompletions, {
    by: BY,
    writeRequest: requestWriter(writer),
    settings: { temperature: undefined, userFirst: false },
    send: sendBy(Object.assign(send, { preconnect: () => {} })),
  });
}
const PIECE = 16 * 1024;
const END = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

/** Streams a body in pieces. @returns the text, how much of the body was read, and the failure, if any */
async function stream(body: string) {
  let sent = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (sent >= body.length) return controller.close();
    controller.enqueue(new TextEncoder().encode(body.slice(sent, sent + PIECE)));
    sent += PIECE;
  };
  const send = async () => new Response(new ReadableStream<Uint8Array>({ pull }));
  const writer = { doStream: () => onlyWrite("http://model", {}) } as unknown as LanguageModelV4;
  const model = modelOf(writer, send);
  let text = "";
  const streamed = model.stream(REQUEST, new AbortController().signal, (heard) => {
    text += heard;
    return null;
  });
  const failure = await streamed.then(
    () => null,
    (error) => serviceErrorOf(Promise.reject(error)),
  );
  return { text, sent, failure };
}

/** Asks for an answer with such tool calls, streamed or whole. */
function askForCalls(mode: ReplyMode, toolCalls: readonly object[], usage?: object) {
  const numbered = toolCalls.map((call, index) => ({ index, ...call }));
  const delta = { choices: [{ delta: { tool_calls: numbered }, finish_reason: "tool_calls" }], usage };
  const message = { choices: [{ message: { content: "", tool_calls: toolCalls } }], usage };
  const body = mode === "streamed" ? `data: ${JSON.stringify(delta)}\n\ndata: [DONE]\n\n` : JSON.stringify(message);
  const write = () => onlyWrite("http://model", {});
  const writer = { doStream: write, doGenerate: write } as unknown as LanguageModelV4;
  const model = modelOf(writer, async () => new Response(body));
  const { signal } = new AbortController();
  return mode === "streamed" ? model.stream(REQUEST, signal, () => null) : model.complete(REQUEST, signal);
}

const called = (name: unknown, given: unknown = "{}") => ({ id: "call_1", function: { name, arguments: given } });
const WAYS = ["streamed", "whole"] as const satisfies ReplyMode[];

const event = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;

test("a stream with an event of more than 256 Ki characters cannot be read, and no more of it is taken in", async () => {
  const body = `${event("Hello ")}${event("\u0001".repeat(1_000_000))}${END}`;
  const { text, sent, failure } = await stream(body);
  expect(failure?.detail).toBe("The CUSTOM_LLM model provider gave an answer that cannot be read");
  expect(text).toBe("Hello ");
  expect(sent).toBeLessThan(512 * 1024);
});

test("a reply that comes in one event, with some about it, is read", async () => {
  const body = `: comment\nretry: soon\n\n${event("é".repeat(200_000))}${END}`;
  expect(await stream(body)).toMatchObject({ text: "é".repeat(200_000), failure: null });
});

test.each(WAYS)("as many tool calls as an answer may have are read, and no more (%s)", async (mode) => {
  const calls = Array.from({ length: TOOL_CALLS_MAX + 1 }, () => called("end_call"));
  expect((await askForCalls(mode, calls.slice(1))).toolCalls).toHaveLength(TOOL_CALLS_MAX);
  const { detail } = await serviceErrorOf(askForCalls(mode, calls));
  expect(detail).toBe("The CUSTOM_LLM model provider gave an answer that cannot be read");
});

test.each(WAYS)("tool calls that are too long together cannot be read (%s)", async (mode) => {
  const half = JSON.stringify({ message: "m".repeat(TOOL_CALL_CHARACTERS_MAX / 2) });
  expect((await askForCalls(mode, [called("end_call", half)])).toolCalls).toHaveLength(1);
  for (const calls of [
    [called("end_call", half), called("end_call", half)],
    [called("n".repeat(TOOL_CALL_CHARACTERS_MAX + 1), "")],
    [called("end_call", { message: "m".repeat(TOOL_CALL_CHARACTERS_MAX) })],
  ]) {
    const { detail } = await serviceErrorOf(askForCalls(mode, calls));
    expect(detail).toBe("The CUSTOM_LLM model provider gave an answer that cannot be read");
  }
});

test.each(WAYS)("what is no count of tokens is unknown (%s)", async (mode) => {
  for (const [prompt_tokens, completion_tokens] of [
    [1e12, 1.5],
    ["12", [1, 2]],
    [-1, null],
  ]) {
    const { usage } = await askForCalls(mode, [called("end_call")], { prompt_tokens, completion_tokens });
    expect(usage).toMatchObject({ inputTokens: undefined, outputTokens: undefined });
  }
});
