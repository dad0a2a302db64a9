/** The hostile owner's models and webhook endpoints, in a process of their own; each path behaves differently. */

/** Nearly as many characters as a reply may have. */
const LONG = 900_000;
const PIECE = 10_000;
const HUGE_CHUNK = new Uint8Array(1024 * 1024);
const HUGE_CHUNKS = 100;
const SHARED = { id: "chatcmpl-neighbours", created: 1_700_000_000, model: "hostile" };
const USAGE = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
const END_CALL = { id: "call_1", type: "function", function: { name: "end_call", arguments: "{}" } };

interface Asked {
  stream?: boolean;
  tools?: unknown[];
}

/** The models' answers, by the first part of the path. */
const MODELS: Readonly<Record<string, (asked: Asked) => Response | Promise<Response>>> = {
  /** A million control characters, each six bytes as JSON, and the end of the conversation. */
  "control-characters": ({ stream, tools }) => reply("\u0001".repeat(LONG), stream, tools !== undefined),
  /** The same number of letters. */
  long: ({ stream }) => reply("many words ".repeat(LONG / 11), stream, false),
  short: ({ stream }) => reply("Yes.", stream, false),
  /** A stream's event, or a document, with two million numbers. */
  values: ({ stream }) => (stream ? new Response(`data: ${VALUES}\n\n`, EVENTS) : new Response(VALUES, JSON_TYPE)),
  hangs: () => new Promise<Response>(() => {}),
  /** Begins a response and sends nothing more. */
  silent: () => new Response(new ReadableStream({ start: (body) => body.enqueue(": \n\n") }), EVENTS),
};
const EVENTS = { headers: { "Content-Type": "text/event-stream" } };
const JSON_TYPE = { headers: { "Content-Type": "application/json" } };
const VALUES = `{"type":"response.created","x":[${"0,".repeat(2_000_000)}0]}`;

const HOOKS: Readonly<Record<string, () => Response | Promise<Response>>> = {
  hangs: () => new Promise<Response>(() => {}),
  redirects: () => Response.redirect("http://127.0.0.1:1/", 302),
  huge: () => new Response(huge()),
  works: () => new Response("ok"),
};

function reply(text: string, isStreamed: boolean | undefined, isLast: boolean): Response {
  const calls = isLast ? { tool_calls: [END_CALL] } : {};
  const finish_reason = isLast ? "tool_calls" : "stop";
  if (!isStreamed) {
    const message = { role: "assistant", content: text, ...calls };
    return Response.json({
      ...SHARED,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason }],
      usage: USAGE,
    });
  }
  const pieces = Array.from({ length: Math.ceil(text.length / PIECE) }, (_, at) =>
    event({ content: text.slice(at * PIECE, (at + 1) * PIECE) }),
  );
  const called = isLast ? [event({ tool_calls: [{ index: 0, ...END_CALL }] })] : [];
  return new Response([...pieces, ...called, event({}, finish_reason), "data: [DONE]\n\n"].join(""), EVENTS);
}

function event(delta: object, finish_reason: string | null = null): string {
  const chunk = { ...SHARED, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

async function* huge() {
  for (let at = 0; at < HUGE_CHUNKS; at++) yield HUGE_CHUNK;
}

if (import.meta.main) {
  Bun.serve({
    hostname: "127.0.0.1",
    port: Number(process.env.PORT),
    idleTimeout: 0,
    async fetch(request) {
      const [, kind = "", behavior = ""] = new URL(request.url).pathname.split("/");
      if (kind === "hook") {
        await request.arrayBuffer();
        return HOOKS[behavior]?.() ?? new Response("no such hook", { status: 404 });
      }
      const asked = (await request.json()) as Asked;
      return MODELS[behavior]?.(asked) ?? new Response("no such model", { status: 404 });
    },
  });
}
