import { chatCompletions } from "@parley/shared/testing/dialects/chat-completions";
import type { AnswerFacts, AnswerShapes, Dialect } from "@parley/shared/testing/dialects/dialect";
import { responses as responsesDialect } from "@parley/shared/testing/dialects/responses";
import { type Answer, answer, estimateUsage, words } from "./answer.ts";
import { ApiError, render } from "./api-error.ts";
import type { Ask } from "./ask.ts";
import { readChatRequest } from "./chat-request.ts";
import { readBody } from "./read-json.ts";
import { readResponsesRequest } from "./responses-request.ts";
import { type SseEvent, sse } from "./sse.ts";

export type ModelOptions = {
  /** 0, the default, takes any free port. */
  port?: number;
  /** Loopback by default, because the stand-in has no authentication. */
  hostname?: string;
  /** Milliseconds before each streamed word; other answers have no delay. */
  wordDelayMs?: number;
};

/** `url` is the origin, such as `http://127.0.0.1:4100`; append `/v1` for the OpenAI base URL. */
export type RunningModel = { url: string; stop(): Promise<void> };

/** Serves the stand-in model. `stop` ends open streams too. @throws when the port is taken */
export function startModel({ port = 0, hostname = "127.0.0.1", wordDelayMs = 0 }: ModelOptions = {}): RunningModel {
  const server = Bun.serve({
    port,
    hostname,
    // A long word delay must not look like a dead connection.
    idleTimeout: 255,
    fetch: (request) => route(request, wordDelayMs),
    error: render,
  });
  return { url: server.url.origin, stop: () => server.stop(true) };
}

type Route = { method: "GET" | "POST"; handle(request: Request, wordDelayMs: number): Response | Promise<Response> };

const ROUTES = new Map<string, Route>([
  ["/v1/chat/completions", { method: "POST", handle: chat }],
  ["/v1/responses", { method: "POST", handle: responses }],
  ["/v1/models", { method: "GET", handle: models }],
  ["/healthz", { method: "GET", handle: () => Response.json({ status: "ok" }) }],
]);

async function route(request: Request, wordDelayMs: number): Promise<Response> {
  const { pathname } = new URL(request.url);
  const found = ROUTES.get(pathname);
  if (!found) {
    const known = [...ROUTES].map(([path, { method }]) => `${method} ${path}`).join(", ");
    return render(new ApiError(404, `Unknown route ${request.method} ${pathname}. There is ${known}.`, "unknown_url"));
  }
  if (request.method !== found.method) {
    const response = render(
      new ApiError(405, `${request.method} is not allowed on ${pathname}; use ${found.method}.`, "method_not_allowed"),
    );
    response.headers.set("allow", found.method);
    return response;
  }
  return Promise.resolve(found.handle(request, wordDelayMs)).catch(render);
}

async function chat(request: Request, wordDelayMs: number): Promise<Response> {
  return respond(chatCompletions, readChatRequest(await readBody(request)), request.signal, wordDelayMs);
}

async function responses(request: Request, wordDelayMs: number): Promise<Response> {
  return respond(responsesDialect, readResponsesRequest(await readBody(request)), request.signal, wordDelayMs);
}

function respond(dialect: Dialect, ask: Ask, gone: AbortSignal, wordDelayMs: number): Response {
  const answered = answer(ask);
  const shapes = dialect.answer(factsOf(ask, answered));
  if (ask.stream) return sse(events(shapes, answered), wordDelayMs, gone);
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
    echo: ask.echo,
    includeUsage: ask.includeUsage,
  };
}

function models(): Response {
  return Response.json({ object: "list", data: [{ id: "stand-in", object: "model", created: 0, owned_by: "parley" }] });
}
