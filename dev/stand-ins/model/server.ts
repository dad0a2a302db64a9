import { chatCompletions } from "@parley/testkit/stand-ins/dialects/chat-completions";
import type { AnswerFacts, AnswerShapes } from "@parley/testkit/stand-ins/dialects/dialect";
import { ApiError, render } from "../openai-api.ts";
import type { StandIn } from "../serve.ts";
import { type Answer, answer, estimateUsage, words } from "./answer.ts";
import { type Ask, readAsk } from "./ask.ts";
import { type SseEvent, sse } from "./sse.ts";

interface ModelOptions {
  /** 0, the default, takes any free port. */
  port?: number;
  /** Loopback by default, because the stand-in has no authentication. */
  hostname?: string;
  /** Milliseconds before each streamed word; other answers have no delay. */
  wordDelayMs?: number;
  /** Answers in place of the stand-in's own rules. */
  answers?: (ask: Ask) => Answer;
}

/**
 * Serves the stand-in model in OpenAI's chat completions; its base URL is `url` with `/v1`. `stop` ends open streams too.
 * @throws when the port is taken
 */
export function startModel(options: ModelOptions = {}): StandIn {
  const { port = 0, hostname = "127.0.0.1", wordDelayMs = 0, answers = answer } = options;
  const server = Bun.serve({
    port,
    hostname,
    // A long word delay must not look like a dead connection.
    idleTimeout: 255,
    routes: {
      "/v1/chat/completions": { POST: (request) => complete(request, wordDelayMs, answers).catch(render) },
      "/v1/models": { GET: () => Response.json({ object: "list", data: [MODEL] }) },
      "/healthz": { GET: () => Response.json({ status: "ok" }) },
    },
    fetch: refuse,
    error: render,
  });
  return { url: server.url.origin, stop: () => server.stop(true) };
}

const MODEL = { id: "stand-in", object: "model", created: 0, owned_by: "parley" };
const METHODS = new Map([
  ["/v1/chat/completions", "POST"],
  ["/v1/models", "GET"],
  ["/healthz", "GET"],
]);

function refuse({ method, url }: Request): Response {
  const { pathname } = new URL(url);
  const allowed = METHODS.get(pathname);
  if (!allowed) {
    const known = [...METHODS].map(([path, method]) => `${method} ${path}`).join(", ");
    return render(new ApiError(404, `Unknown route ${method} ${pathname}. There is ${known}.`, "unknown_url"));
  }
  const detail = `${method} is not allowed on ${pathname}; use ${allowed}.`;
  const response = render(new ApiError(405, detail, "method_not_allowed"));
  response.headers.set("allow", allowed);
  return response;
}

async function complete(request: Request, wordDelayMs: number, answers: (ask: Ask) => Answer): Promise<Response> {
  const ask = await readAsk(request);
  const answered = answers(ask);
  const shapes = chatCompletions.answer(factsOf(ask, answered));
  if (ask.stream) return sse(events(shapes, answered), wordDelayMs, request.signal);
  return Response.json(
    answered.kind === "text"
      ? shapes.whole(answered.text, [], "stop")
      : shapes.whole("", [{ name: answered.name, input: answered.arguments }], "tools"),
  );
}

function* events(shapes: AnswerShapes, answered: Answer): Generator<SseEvent> {
  if (answered.kind === "text") for (const word of words(answered.text)) yield* sent(shapes.piece(word), true);
  else yield* sent(shapes.toolCall(answered.name, answered.arguments), true);
  yield* sent(shapes.end(answered.kind === "text" ? "stop" : "tools"));
}

/** @param isWord whether the last event has a piece of the answer */
function* sent(events: readonly unknown[], isWord = false): Generator<SseEvent> {
  for (const [at, data] of events.entries()) yield { data, word: isWord && at === events.length - 1 };
}

function factsOf(ask: Ask, answered: Answer): AnswerFacts {
  return {
    model: ask.model,
    newId: (prefix) => prefix + crypto.randomUUID().replaceAll("-", ""),
    createdAtSeconds: Math.floor(Date.now() / 1000),
    usage: estimateUsage(ask, answered),
    includeUsage: ask.includeUsage,
  };
}
