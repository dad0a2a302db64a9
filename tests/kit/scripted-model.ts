import { type ModelCall, startScriptedModel as startServer } from "@parley/testkit/scripted-model";
import { chatCompletions } from "@parley/testkit/stand-ins/dialects/chat-completions";

/** A request to a language model, in OpenAI's form. */
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

/** One request, and the ways to answer it. */
export interface Exchange {
  request: ModelRequest;
  /** A piece of the reply: sent at once in a streamed answer, at the end in a non-streamed one. */
  text(piece: string): void;
  /** Made at the end. */
  toolCall(name: string, input: object): void;
  /** Ends the reply like a model that has said everything. */
  finish(): void;
  /** Ends the answer early: correctly for HTTP, but without the model's end of the reply. */
  cutOff(): void;
  /** Ends the connection, as a crash does. */
  reset(): void;
  /** Any answer of another kind. */
  respond(status: number, contentType: string, body: string, headers?: Record<string, string>): void;
  /** Settles when the caller has closed the connection before the end of the answer. */
  left: Promise<void>;
}

export type Script = (exchange: Exchange) => void | Promise<void>;

/** A language model over HTTP (OpenAI's chat completions) that a test controls. */
export interface ScriptedModel {
  /** For `llm.params.base_url`. */
  baseUrl: string;
  /** All requests so far. */
  requests: readonly ModelRequest[];
  /** Gives the next request to this script. Resolves with the request once it has arrived. Without a script, the model echoes a request. */
  next(script?: Script): Promise<Exchange>;
  /** Gives every further request that no script waits for to this one; null: the model echoes them again. */
  always(script: Script | null): void;
  stop(): Promise<void>;
}

/** The reply to a message without a script. */
export function echoOf(message: string): string {
  return `You said: ${message}`;
}

export async function startScriptedModel(): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const scripts: { script: Script; came: (exchange: Exchange) => void }[] = [];
  let usual: Script = echo;
  const server = await startServer(chatCompletions, { closes: true });
  server.script = async (call) => {
    const exchange = exchangeOf(call);
    requests.push(exchange.request);
    const next = scripts.shift();
    next?.came(exchange);
    await (next?.script ?? usual)(exchange);
  };
  return {
    baseUrl: server.baseUrl,
    requests,
    next(script = () => {}) {
      const { promise, resolve } = Promise.withResolvers<Exchange>();
      scripts.push({ script, came: resolve });
      return promise;
    },
    always(script) {
      usual = script ?? echo;
    },
    stop: server.stop,
  };
}

/** Echoes the last message, in pieces that end in the middle of words, as tokens do. Unanswered ones before it are joined to it. */
function echo(exchange: Exchange): void {
  const message = exchange.request.body.messages.at(-1)?.content ?? "";
  for (const piece of echoOf(message.split("\n\n").at(-1) ?? "").match(/.{1,3}/gsu) ?? []) exchange.text(piece);
  exchange.finish();
}

function exchangeOf(call: ModelCall): Exchange {
  const { path, authorization, body, left, respond, end, reset, asked } = call;
  const calls: { name: string; input: string }[] = [];
  let unsaid = "";
  return {
    request: { path, authorization, body },
    left,
    text(piece) {
      if (asked.isStream) call.piece(piece);
      else unsaid += piece;
    },
    toolCall: (name, input) => calls.push({ name, input: JSON.stringify(input) }),
    finish: () => call.callTools(calls, unsaid),
    cutOff: end,
    reset,
    respond,
  };
}
