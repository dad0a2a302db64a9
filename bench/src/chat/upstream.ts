/** A mock of a language model's API (OpenAI's chat completions) that answers at once, streamed or whole, or word by word. */
import { COMPANY, type Model, ORDER, REPLY, REPLY_PIECES, TOOL_MODEL, WORD_EVERY_MS, WORDS } from "./reply.ts";

const SHARED = { id: "chatcmpl-bench", created: 1_700_000_000, model: "bench" };
const USAGE = { prompt_tokens: 250, completion_tokens: WORDS.length, total_tokens: 250 + WORDS.length };

const whole = completion({ content: REPLY }, "stop");
const toolCall = completion(
  {
    content: null,
    tool_calls: [
      {
        id: "call_1",
        type: "function",
        function: { name: "find_order", arguments: JSON.stringify({ order_id: ORDER.order_id }) },
      },
    ],
  },
  "tool_calls",
);

const words = REPLY_PIECES.map((content) => event(chunk({ content })));
const opening = event(chunk({ role: "assistant", content: "" }));
const closing = [
  event(chunk({}, "stop")),
  event({ ...SHARED, object: "chat.completion.chunk", choices: [], usage: USAGE }),
  "data: [DONE]\n\n",
].join("");
const streamed = [opening, ...words, closing].join("");

/** Sends each word at its scheduled time, however late the previous one was. */
async function* paced(everyMs: number): AsyncGenerator<string> {
  const startedAt = performance.now();
  yield opening;
  for (const [at, word] of words.entries()) {
    await Bun.sleep(Math.max(0, startedAt + at * everyMs - performance.now()));
    yield word;
  }
  yield closing;
}

function completion(message: object, finish_reason: "stop" | "tool_calls"): string {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason }];
  return JSON.stringify({ ...SHARED, object: "chat.completion", choices, usage: USAGE });
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function chunk(delta: object, finish_reason: "stop" | null = null): object {
  return { ...SHARED, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] };
}

interface Asked {
  model: Model | typeof TOOL_MODEL;
  stream?: boolean;
  messages: { role: string; content: string }[];
  tools?: { function: { name: string } }[];
}

/** Calls the tool, or replies to its result. A contender that does not do the whole loop gets an error. */
function toolTurn({ stream, messages, tools }: Asked): Response {
  const last = messages.at(-1);
  const isResult = last?.role === "tool" && last.content.includes(ORDER.expected);
  if (stream || !tools?.some((tool) => tool.function.name === "find_order") || !(isResult || last?.role === "user"))
    return new Response("no tool, no result of it, or streamed", { status: 400 });
  return new Response(isResult ? whole : toolCall, { headers: { "Content-Type": "application/json" } });
}

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  idleTimeout: 0,
  async fetch(request) {
    const asked = (await request.json()) as Asked;
    const { model, stream, messages } = asked;
    const [system] = messages;
    // A contender that does not fill in the prompt has done less than the others.
    if (system?.role !== "system" || !system.content.includes(COMPANY))
      return new Response("no prompt", { status: 400 });
    if (model === TOOL_MODEL) return toolTurn(asked);
    const everyMs = WORD_EVERY_MS[model];
    const type = stream ? "text/event-stream" : "application/json";
    const body = stream ? (everyMs > 0 ? paced(everyMs) : streamed) : whole;
    return new Response(body, { headers: { "Content-Type": type } });
  },
});
