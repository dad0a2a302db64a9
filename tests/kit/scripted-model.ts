import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a language model was asked, in OpenAI's form. */
export interface ModelRequest {
  path: string;
  authorization: string;
  body: {
    model: string;
    stream?: boolean;
    messages: { role: string; content: string }[];
    tools?: { function: { name: string } }[];
    temperature?: number;
  };
}

/** One request and everything that can be done to it. */
export interface Exchange {
  request: ModelRequest;
  /** A piece of the reply: sent at once in a streamed answer, kept for the end in a whole one. */
  text(piece: string): void;
  toolCall(name: string, input: object): void;
  /** Ends the reply as a model does that has said everything. */
  finish(): void;
  /** Ends the answer where it is, in good order for HTTP and without the model's own end. */
  cutOff(): void;
  /** Ends the connection where it is, as a crash does. */
  reset(): void;
  /** Any answer of another kind. */
  respond(status: number, contentType: string, body: string, headers?: Record<string, string>): void;
  /** Settles when whoever asked has closed the connection before the answer's end. */
  left: Promise<void>;
}

export type Script = (exchange: Exchange) => void | Promise<void>;

/** A language model over HTTP (OpenAI's chat completions) that does as a test says. */
export interface ScriptedModel {
  /** For `llm.params.base_url`. */
  baseUrl: string;
  /** Everything it was asked so far. */
  requests: readonly ModelRequest[];
  /** The next request is for this script; what it was, once it came. Without a script a request is echoed. */
  next(script?: Script): Promise<Exchange>;
  /** From now on every request that no script waits for is for this one, or is echoed again. */
  always(script: Script | null): void;
  stop(): Promise<void>;
}

/** What it says to a message that no script is for. */
export function echoOf(message: string): string {
  return `You said: ${message}`;
}

export async function startScriptedModel(): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const scripts: { script: Script; came: (exchange: Exchange) => void }[] = [];
  let usual: Script = echo;
  const server = createServer(async (incoming, outgoing) => {
    // So that a fault hits the request it is meant for: what a reused connection loses is sent again.
    outgoing.setHeader("connection", "close");
    const request = await readRequest(incoming);
    requests.push(request);
    const exchange = exchangeOf(request, outgoing);
    const next = scripts.shift();
    next?.came(exchange);
    await (next?.script ?? usual)(exchange);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    next(script = () => {}) {
      const { promise, resolve } = Promise.withResolvers<Exchange>();
      scripts.push({ script, came: resolve });
      return promise;
    },
    always(script) {
      usual = script ?? echo;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** In pieces that end in the middle of words, as tokens do. */
function echo(exchange: Exchange): void {
  const message = exchange.request.body.messages.at(-1)?.content ?? "";
  for (const piece of echoOf(message).match(/.{1,3}/gsu) ?? []) exchange.text(piece);
  exchange.finish();
}

async function readRequest(incoming: IncomingMessage): Promise<ModelRequest> {
  let body = "";
  for await (const chunk of incoming.setEncoding("utf8")) body += chunk;
  return { path: incoming.url ?? "", authorization: incoming.headers.authorization ?? "", body: JSON.parse(body) };
}

function exchangeOf(request: ModelRequest, outgoing: ServerResponse): Exchange {
  const isStream = request.body.stream === true;
  const left = Promise.withResolvers<void>();
  const calls: object[] = [];
  let text = "";
  outgoing.on("close", () => {
    if (!outgoing.writableEnded) left.resolve();
  });
  const event = (data: string) => {
    if (!outgoing.headersSent) outgoing.writeHead(200, { "content-type": "text/event-stream" });
    outgoing.write(`data: ${data}\n\n`);
  };
  const chunk = (delta: object, finishReason: string | null = null) =>
    event(JSON.stringify({ ...HEAD, object: "chat.completion.chunk", choices: [choice({ delta }, finishReason)] }));
  const finishReason = () => (calls.length > 0 ? "tool_calls" : "stop");
  return {
    request,
    left: left.promise,
    text(piece) {
      text += piece;
      if (isStream) chunk({ content: piece });
    },
    toolCall(name, input) {
      const call = {
        id: `call_${calls.length}`,
        type: "function",
        function: { name, arguments: JSON.stringify(input) },
      };
      if (isStream) chunk({ tool_calls: [{ index: calls.length, ...call }] });
      calls.push(call);
    },
    finish() {
      if (!isStream) {
        const message = { role: "assistant", content: text, ...(calls.length > 0 && { tool_calls: calls }) };
        const whole = {
          ...HEAD,
          object: "chat.completion",
          choices: [choice({ message }, finishReason())],
          usage: USAGE,
        };
        this.respond(200, "application/json", JSON.stringify(whole));
        return;
      }
      chunk({}, finishReason());
      event(JSON.stringify({ ...HEAD, object: "chat.completion.chunk", choices: [], usage: USAGE }));
      event("[DONE]");
      outgoing.end();
    },
    cutOff: () => outgoing.end(),
    reset: () => outgoing.socket?.resetAndDestroy(),
    respond: (status, contentType, body, headers = {}) =>
      outgoing.writeHead(status, { "content-type": contentType, ...headers }).end(body),
  };
}

const HEAD = { id: "chatcmpl-1", created: 1_700_000_000, model: "scripted" };
const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

function choice(said: object, finishReason: string | null) {
  return { index: 0, ...said, finish_reason: finishReason };
}
