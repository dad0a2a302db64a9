import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { chatCompletions } from "./stand-ins/dialects/chat-completions.ts";
import type { Asked, Dialect, End, RecordedRequest } from "./stand-ins/dialects/dialect.ts";

export interface ModelCall extends RecordedRequest {
  asked: Asked;
  authorization: string;
  /** Sends a piece of a streamed reply. @returns whether the connection accepts more for now */
  piece(text: string): boolean;
  /** Sends any event of a streamed reply. */
  event(data: unknown): boolean;
  /** Settles when the connection accepts more, or is closed. */
  drained(): Promise<void>;
  /** Sends the rest, if any, and ends the reply as a model does, streamed or whole. */
  finish(text?: string, end?: End): void;
  /** Sends the text, if any, calls tools and ends the reply. */
  callTools(calls: readonly { name: string; input: string }[], text?: string): void;
  callTool(name: string, input: string, text?: string): void;
  respond(status: number, contentType: string, body: string, headers?: Record<string, string>): void;
  /** The same without ending the reply. */
  begin(status: number, contentType: string, body: string): void;
  /** Sends more of a response that has begun. @returns whether the connection accepts more for now */
  more(body: string): boolean;
  /** Ends the response without the model's end of the reply. */
  end(): void;
  /** Breaks the connection. */
  reset(): void;
  /** Settles when the caller closes the connection before the response has ended. */
  left: Promise<void>;
}

export type Script = (call: ModelCall) => unknown;

/** A model provider's server that a test scripts. */
export interface ScriptedModel {
  baseUrl: string;
  calls: readonly ModelCall[];
  /** How later calls are answered. */
  script: Script;
  stop(): Promise<void>;
}

/**
 * @param dialect OpenAI's chat completions, if not given
 * @param closes whether each connection ends with its response, so that a fault hits the intended request: a request on a reused
 * connection is sent again when it breaks
 */
export async function startScriptedModel(
  dialect: Dialect = chatCompletions,
  { closes = false } = {},
): Promise<ScriptedModel> {
  const calls: ModelCall[] = [];
  const server = createServer(async (incoming, outgoing) => {
    if (closes) outgoing.setHeader("connection", "close");
    const call = await callOf(incoming, outgoing, dialect);
    calls.push(call);
    await model.script(call);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const model: ScriptedModel = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    script: (call) => call.finish("Hello there."),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return model;
}

async function callOf(incoming: IncomingMessage, outgoing: ServerResponse, dialect: Dialect): Promise<ModelCall> {
  let text = "";
  for await (const chunk of incoming.setEncoding("utf8")) text += chunk;
  const request = { path: incoming.url ?? "", headers: incoming.headers, body: JSON.parse(text) };
  const asked = dialect.read(request);
  const answer = dialect.answer();
  const left = Promise.withResolvers<void>();
  outgoing.on("close", () => {
    if (!outgoing.writableFinished) left.resolve();
  });
  const event = (data: unknown) => {
    if (!outgoing.headersSent) outgoing.writeHead(200, { "content-type": "text/event-stream" });
    return outgoing.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  };
  const all = (events: readonly unknown[]) => events.map(event).at(-1) ?? true;
  const respond: ModelCall["respond"] = (status, contentType, body, headers = {}) => {
    outgoing.writeHead(status, { "content-type": contentType, ...headers }).end(body);
  };
  const say: ModelCall["callTools"] = (called, said = "") => {
    conclude(said, called, called.length > 0 ? "tools" : "stop");
  };
  const conclude = (said: string, called: Parameters<ModelCall["callTools"]>[0], end: End) => {
    if (!asked.isStream) return respond(200, "application/json", JSON.stringify(answer.whole(said, called, end)));
    if (said !== "") all(answer.piece(said));
    for (const { name, input } of called) all(answer.toolCall(name, input));
    all(answer.end(end));
    outgoing.end();
  };
  return {
    ...request,
    asked,
    authorization: incoming.headers.authorization ?? "",
    left: left.promise,
    event,
    piece: (said) => all(answer.piece(said)),
    drained: () =>
      new Promise((resolve) => {
        outgoing.once("drain", resolve);
        left.promise.then(resolve);
      }),
    finish: (said = "", end: End = "stop") => conclude(said, [], end),
    callTools: say,
    callTool: (name, input, said = "") => say([{ name, input }], said),
    respond,
    begin: (status, contentType, body) => outgoing.writeHead(status, { "content-type": contentType }).write(body),
    more: (body) => outgoing.write(body),
    end: () => outgoing.end(),
    reset: () => outgoing.socket?.resetAndDestroy(),
  };
}
