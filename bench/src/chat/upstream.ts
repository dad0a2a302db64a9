/** A mock of a language model's API (OpenAI's chat completions) that answers at once, streamed or whole, or word by word. */
import { COMPANY, type Model, REPLY, REPLY_PIECES, WORD_EVERY_MS, WORDS } from "./reply.ts";

const SHARED = { id: "chatcmpl-bench", created: 1_700_000_000, model: "bench" };
const USAGE = { prompt_tokens: 250, completion_tokens: WORDS.length, total_tokens: 250 + WORDS.length };

const whole = JSON.stringify({
  ...SHARED,
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: REPLY }, finish_reason: "stop" }],
  usage: USAGE,
});

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

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function chunk(delta: object, finish_reason: "stop" | null = null): object {
  return { ...SHARED, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] };
}

interface Asked {
  model: Model;
  stream?: boolean;
  messages: { role: string; content: string }[];
}

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  idleTimeout: 0,
  async fetch(request) {
    const { model, stream, messages } = (await request.json()) as Asked;
    const [system] = messages;
    const everyMs = WORD_EVERY_MS[model];
    // A contender that does not fill in the prompt has done less than the others.
    if (system?.role !== "system" || !system.content.includes(COMPANY))
      return new Response("no prompt", { status: 400 });
    const type = stream ? "text/event-stream" : "application/json";
    const body = stream ? (everyMs > 0 ? paced(everyMs) : streamed) : whole;
    return new Response(body, { headers: { "Content-Type": type } });
  },
});
