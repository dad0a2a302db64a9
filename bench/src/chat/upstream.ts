/** A mock of a language model's API (OpenAI's chat completions) that answers at once, streamed or whole. */
import { COMPANY, MODEL, REPLY, REPLY_PIECES, WORDS } from "./reply.ts";

const SHARED = { id: "chatcmpl-bench", created: 1_700_000_000, model: MODEL };
const USAGE = { prompt_tokens: 250, completion_tokens: WORDS.length, total_tokens: 250 + WORDS.length };

const whole = JSON.stringify({
  ...SHARED,
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: REPLY }, finish_reason: "stop" }],
  usage: USAGE,
});

const streamed = [
  chunk({ role: "assistant", content: "" }),
  ...REPLY_PIECES.map((content) => chunk({ content })),
  chunk({}, "stop"),
  { ...SHARED, object: "chat.completion.chunk", choices: [], usage: USAGE },
]
  .map((event) => `data: ${JSON.stringify(event)}\n\n`)
  .concat("data: [DONE]\n\n")
  .join("");

function chunk(delta: object, finish_reason: "stop" | null = null): object {
  return { ...SHARED, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] };
}

interface Asked {
  stream?: boolean;
  messages: { role: string; content: string }[];
}

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  async fetch(request) {
    const { stream, messages } = (await request.json()) as Asked;
    const [system] = messages;
    // Whoever does not fill in the prompt has done less than it is measured for.
    if (system?.role !== "system" || !system.content.includes(COMPANY))
      return new Response("no prompt", { status: 400 });
    const type = stream ? "text/event-stream" : "application/json";
    return new Response(stream ? streamed : whole, { headers: { "Content-Type": type } });
  },
});
