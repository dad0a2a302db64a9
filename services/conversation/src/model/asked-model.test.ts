import { expect, test } from "bun:test";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { meterOf } from "@parley/shared/egress/meter";
import { serviceErrorOf } from "@parley/shared/testing/failures";
import { TOOL_CALL_CHARACTERS_MAX, TOOL_CALLS_MAX } from "./answers/called-tools.ts";
import { chatCompletions } from "./answers/chat-completions.ts";
import { askedModel } from "./asked-model.ts";
import { sendBy } from "./bounded-fetch.ts";
import type { Asked, ModelRequest } from "./port.ts";
import { onlyWrite, requestWriter } from "./requests/written-request.ts";

const BY = { provider: "CUSTOM_LLM", name: "m" };
const REQUEST: ModelRequest = { system: "", messages: [{ role: "user", content: "Hi" }], tools: [] };

function modelOf(writer: LanguageModelV4, send: (...request: Parameters<typeof fetch>) => Promise<Response>) {
  return askedModel(chatCompletions, {
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
function askForCalls(asked: Asked, toolCalls: readonly object[], usage?: object) {
  const numbered = toolCalls.map((call, index) => ({ index, ...call }));
  const delta = { choices: [{ delta: { tool_calls: numbered }, finish_reason: "tool_calls" }], usage };
  const message = { choices: [{ message: { content: "", tool_calls: toolCalls } }], usage };
  const body = asked === "streamed" ? `data: ${JSON.stringify(delta)}\n\ndata: [DONE]\n\n` : JSON.stringify(message);
  const write = () => onlyWrite("http://model", {});
  const writer = { doStream: write, doGenerate: write } as unknown as LanguageModelV4;
  const model = modelOf(writer, async () => new Response(body));
  const { signal } = new AbortController();
  return asked === "streamed" ? model.stream(REQUEST, signal, () => null) : model.complete(REQUEST, signal);
}

const called = (name: unknown, given: unknown = "{}") => ({ id: "call_1", function: { name, arguments: given } });
const WAYS = ["streamed", "whole"] as const satisfies Asked[];

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

test("what arrived while a turn waited is parsed in short pieces, each in a turn of the event loop, streamed or whole", async () => {
  const words = event("word ".repeat(100));
  const whole = `{"choices":[{"message":{"content":${JSON.stringify("word ".repeat(30_000))}}}]}`;
  for (const [body, way] of [
    [`${words.repeat(300)}${END}`, "stream"],
    [whole, "complete"],
  ] as const) {
    let loopTurns = 0;
    let isOver = false;
    const next = () => {
      loopTurns++;
      if (!isOver) setImmediate(next);
    };
    setImmediate(next);
    const bytes = new TextEncoder().encode(body);
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      for (let at = 0; at < bytes.length; at += 8 * 1024) controller.enqueue(bytes.subarray(at, at + 8 * 1024));
      controller.close();
    };
    const send = async () => new Response(new ReadableStream({ start }));
    const write = () => onlyWrite("http://model", {});
    const writer = { doStream: write, doGenerate: write } as unknown as LanguageModelV4;
    const model = modelOf(writer, send);
    const request = { ...REQUEST, meter: { ownerId: "own_1", received: () => {} } };
    const { signal } = new AbortController();
    const heard: string[] = [];
    const hear = (text: string) => {
      heard.push(text);
      return null;
    };
    if (way === "complete") hear((await model.complete(request, signal)).text);
    else await model.stream(request, signal, hear);
    isOver = true;

    expect(heard.join("")).toBe("word ".repeat(30_000));
    expect(Math.max(...heard.map((text) => text.length))).toBeLessThanOrEqual(way === "stream" ? 16 * 1024 : 150_000);
    expect(loopTurns).toBeGreaterThanOrEqual(Math.floor(bytes.length / (16 * 1024)));
  }
});

test("a whole answer is parsed no faster than its request says, and what was parsed is told", async () => {
  const body = `{"choices":[{"message":{"content":${JSON.stringify("\u0001".repeat(20_000))}}}]}`;
  const bytes = new TextEncoder().encode(body);
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    controller.enqueue(bytes);
    controller.close();
  };
  const send = async () => new Response(new ReadableStream({ pull }));
  const writer = { doGenerate: () => onlyWrite("http://model", {}) } as unknown as LanguageModelV4;
  const model = modelOf(writer, send);
  const told = Promise.withResolvers<number>();
  const goOn = Promise.withResolvers<void>();
  const parsed = (characters: number) => {
    told.resolve(characters);
    return goOn.promise;
  };
  let isOver = false;
  const reading: boolean[] = [];
  const request = { ...REQUEST, parsed, reading: (isReading: boolean) => reading.push(isReading) };
  const asked = model.complete(request, new AbortController().signal).finally(() => {
    isOver = true;
  });
  expect(await told.promise).toBe(body.length);
  await new Promise((resolve) => setImmediate(resolve));
  expect({ isOver, reading }).toEqual({ isOver: false, reading: [true] });
  goOn.resolve();
  expect((await asked).text).toHaveLength(20_000);
  expect(reading).toEqual([true, false]);
});

/** Sends an answer in chunks, each when the one before has been taken, or all at once. @returns what was reported as ahead */
async function bytesAhead(chunks: readonly string[], way: "stream" | "complete", areAtOnce = false): Promise<number[]> {
  const send = async (_: unknown, { signal }: RequestInit = {}) => {
    const bodies = (areAtOnce ? [chunks.join("")] : chunks).map((chunk) => new TextEncoder().encode(chunk)).values();
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      const { value } = bodies.next();
      if (!value) return controller.close();
      meterOf(signal)?.received(value.length);
      controller.enqueue(value);
    };
    return new Response(new ReadableStream({ pull }));
  };
  const write = () => onlyWrite("http://model", {});
  const model = modelOf({ doStream: write, doGenerate: write } as unknown as LanguageModelV4, send);
  const told: number[] = [];
  const meter = { ownerId: "own_1", received: () => {} };
  const request = { ...REQUEST, meter, ahead: (bytes: number) => told.push(bytes) };
  const { signal } = new AbortController();
  if (way === "complete") await model.complete(request, signal);
  else await model.stream(request, signal, () => null);
  return told;
}

test("a streamed answer is ahead when it arrives faster than it is read, not while it has no text", async () => {
  const delta = (part: object) => `data: ${JSON.stringify({ choices: [{ delta: part }] })}\n\n`;
  const call = { index: 0, id: "c", function: { name: "f", arguments: "" } };
  for (const part of [
    { reasoning_content: "word ".repeat(40) },
    { tool_calls: [{ ...call, function: { arguments: " ".repeat(200) } }] },
  ]) {
    const chunks = [delta({ tool_calls: [call] }), ...Array(200).fill(delta(part)), END];
    expect(await bytesAhead(chunks, "stream")).toEqual([]);
    expect(await bytesAhead(chunks, "stream", true)).toEqual([chunks.join("").length]);
  }
});

test("a whole answer is never ahead, because it is parsed at its own pace", async () => {
  const whole = `{"choices":[{"message":{"content":${JSON.stringify("word ".repeat(30_000))}}}]}`;
  expect(await bytesAhead([whole], "complete")).toEqual([]);
});

test("a request that was written ahead is sent by the first call with its messages, and by no other", async () => {
  const texts: string[] = [];
  const written = () => onlyWrite("http://model", { body: `written ${++count}` });
  let count = 0;
  const send = async (_: unknown, { body, signal }: RequestInit = {}) => {
    texts.push(`${body} ${signal?.aborted}`);
    return Response.json({ choices: [{ message: { content: "Hello" } }] });
  };
  const writer = { doGenerate: written, doStream: written } as unknown as LanguageModelV4;
  const model = modelOf(writer, send);
  const { signal } = new AbortController();
  const other = { ...REQUEST, messages: [...REQUEST.messages] };

  model.write?.(REQUEST, "whole");
  expect((await model.complete({ ...REQUEST, firstWordMs: 1_000 }, signal)).text).toBe("Hello");
  await model.complete(REQUEST, signal);
  model.write?.(REQUEST, "whole");
  await model.complete(other, signal);
  model.write?.(REQUEST, "streamed");
  await model.complete(REQUEST, signal);
  expect(texts).toEqual(["written 1 false", "written 2 false", "written 4 false", "written 6 false"]);
});

test.each(WAYS)("as many tool calls as an answer may have are read, and no more (%s)", async (asked) => {
  const calls = Array.from({ length: TOOL_CALLS_MAX + 1 }, () => called("end_call"));
  expect((await askForCalls(asked, calls.slice(1))).toolCalls).toHaveLength(TOOL_CALLS_MAX);
  const { detail } = await serviceErrorOf(askForCalls(asked, calls));
  expect(detail).toBe("The CUSTOM_LLM model provider gave an answer that cannot be read");
});

test.each(WAYS)("tool calls that are too long together cannot be read (%s)", async (asked) => {
  const half = JSON.stringify({ message: "m".repeat(TOOL_CALL_CHARACTERS_MAX / 2) });
  expect((await askForCalls(asked, [called("end_call", half)])).toolCalls).toHaveLength(1);
  for (const calls of [
    [called("end_call", half), called("end_call", half)],
    [called("n".repeat(TOOL_CALL_CHARACTERS_MAX + 1), "")],
    [called("end_call", { message: "m".repeat(TOOL_CALL_CHARACTERS_MAX) })],
  ]) {
    const { detail } = await serviceErrorOf(askForCalls(asked, calls));
    expect(detail).toBe("The CUSTOM_LLM model provider gave an answer that cannot be read");
  }
});

test.each(WAYS)("what is no count of tokens is unknown (%s)", async (asked) => {
  for (const [prompt_tokens, completion_tokens] of [
    [1e12, 1.5],
    ["12", [1, 2]],
    [-1, null],
  ]) {
    const { usage } = await askForCalls(asked, [called("end_call")], { prompt_tokens, completion_tokens });
    expect(usage).toMatchObject({ inputTokens: undefined, outputTokens: undefined });
  }
});
