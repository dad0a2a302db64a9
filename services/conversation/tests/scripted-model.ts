import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ModelCall {
  path: string;
  authorization: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on it field by field
  body: any;
  /** A piece of a streamed reply. @returns whether the connection takes more for now */
  piece(text: string): boolean;
  /** Any event of a streamed reply. */
  event(data: unknown): boolean;
  /** Settles when the connection takes more, or is gone. */
  drained(): Promise<void>;
  /** Says the rest, if any, and ends the reply as a model does, streamed or whole. */
  finish(text?: string, finishReason?: string | null): void;
  /** Calls a tool and ends the reply. */
  callTool(name: string, input: string, text?: string): void;
  respond(status: number, contentType: string, body: string): void;
  /** The same without an end. */
  begin(status: number, contentType: string, body: string): void;
  /** Ends the answer without the model's own end. */
  end(): void;
  /** Breaks the connection. */
  reset(): void;
  /** Settles when the one who asked closes the connection before the answer's end. */
  left: Promise<void>;
}

export type Script = (call: ModelCall) => unknown;

/** An OpenAI-compatible server (chat completions) that does as a test says. */
export interface ScriptedModel {
  baseUrl: string;
  calls: readonly ModelCall[];
  /** What the calls from now on get. */
  script: Script;
  stop(): Promise<void>;
}

export const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

export async function startScriptedModel(): Promise<ScriptedModel> {
  const calls: ModelCall[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const call = await callOf(incoming, outgoing);
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

async function callOf(incoming: IncomingMessage, outgoing: ServerResponse): Promise<ModelCall> {
  let text = "";
  for await (const chunk of incoming.setEncoding("utf8")) text += chunk;
  const body = JSON.parse(text);
  const left = Promise.withResolvers<void>();
  outgoing.on("close", () => {
    if (!outgoing.writableFinished) left.resolve();
  });
  const event = (data: unknown) => {
    if (!outgoing.headersSent) outgoing.writeHead(200, { "content-type": "text/event-stream" });
    return outgoing.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  };
  const chunk = (delta: object, finishReason: string | null = null) =>
    event({ ...HEAD, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finishReason }] });
  const whole = (message: object, finishReason: string | null) => {
    const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finishReason }];
    respond(200, "application/json", JSON.stringify({ ...HEAD, object: "chat.completion", choices, usage: USAGE }));
  };
  const conclude = (finishReason: string | null) => {
    chunk({}, finishReason);
    event({ ...HEAD, object: "chat.completion.chunk", choices: [], usage: USAGE });
    event("[DONE]");
    outgoing.end();
  };
  const respond = (status: number, contentType: string, answer: string) => {
    outgoing.writeHead(status, { "content-type": contentType }).end(answer);
  };
  return {
    path: incoming.url ?? "",
    authorization: incoming.headers.authorization ?? "",
    body,
    left: left.promise,
    event,
    piece: (content) => chunk({ content }),
    drained: () =>
      new Promise((resolve) => {
        outgoing.once("drain", resolve);
        left.promise.then(resolve);
      }),
    finish(content = "", finishReason: string | null = "stop") {
      if (!body.stream) return whole({ content }, finishReason);
      if (content !== "") chunk({ content });
      conclude(finishReason);
    },
    callTool(name, input, content = "") {
      const call = { id: "call_1", type: "function", function: { name, arguments: input } };
      if (!body.stream) return whole({ content, tool_calls: [call] }, "tool_calls");
      if (content !== "") chunk({ content });
      chunk({ tool_calls: [{ index: 0, ...call }] });
      conclude("tool_calls");
    },
    respond,
    begin: (status, contentType, answer) => outgoing.writeHead(status, { "content-type": contentType }).write(answer),
    end: () => outgoing.end(),
    reset: () => outgoing.socket?.resetAndDestroy(),
  };
}

const HEAD = { id: "chatcmpl-1", created: 1_700_000_000, model: "scripted" };
