import { EventSourceParserStream } from "eventsource-parser/stream";
import { api, unreachable } from "../../api/client.ts";
import { Problem, problemIn } from "../../api/problem.ts";
import type { Grounds } from "../knowledge/sources.tsx";
import type { GivenResult } from "./live-calls.ts";
import { givenValues, type Setup } from "./setup.ts";

export interface Reply {
  /** Milliseconds to the first word, and to the last. */
  firstWordMs: number;
  totalMs: number;
  waitsFor: WaitedCalls;
  grounds: Grounds;
}

/** The calls for whose results the agent waits, and how many milliseconds, by their ids. */
export type WaitedCalls = Readonly<Record<string, number>>;

/** What the person says, or gives for calls of client tools. */
export type Said = { message: string } | { tool_results: readonly ({ tool_call_id: string } & GivenResult)[] };

/** What is told of a reply while it comes (docs/api-reference.md#events). */
export interface ReplyListener {
  /** Called as soon as the API has accepted the message, even if no reply comes. */
  onSession(sessionId: string): void;
  onText(text: string): void;
  onToolCall(call: { tool_call_id: string; name: string; arguments: object }): void;
  onToolResult(result: { tool_call_id: string; result: string; is_error: boolean }): void;
}

const CUT_SHORT = "The reply was cut short. Try again.";

/**
 * Sends what the person says to the agent as it is tried, and reads the reply word by word.
 * @param sessionId of the chat to continue with; null begins one
 * @throws Problem with the API's detail
 */
export async function streamReply(
  setup: Setup,
  sessionId: string | null,
  said: Said,
  listener: ReplyListener,
  signal: AbortSignal,
): Promise<Reply> {
  const startedAt = performance.now();
  const response = await fetch("/v1/public/chat", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify({
      agent_id: setup.agentId,
      agent_version: setup.version,
      ...said,
      client_tools: true,
      session_id: sessionId,
      metadata: { dynamic_variables: givenValues(setup) },
      draft: setup.changes,
      asks_start_webhook: setup.asksStartWebhook,
    }),
    signal,
  }).catch(unreachable);
  const session = response.headers.get("x-session-id");
  if (session) listener.onSession(session);
  if (!response.ok || !response.body) throw problemIn(response, await response.json().catch(() => null));
  let firstWordMs = 0;
  const reader = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  const next = () => reader.read().catch(unreachable);
  for (let read = await next(); !read.done; read = await next()) {
    const data = JSON.parse(read.value.data);
    switch (read.value.event) {
      case "text":
        firstWordMs ||= performance.now() - startedAt;
        listener.onText(data.text);
        break;
      case "tool_call":
        listener.onToolCall(data);
        break;
      case "tool_result":
        listener.onToolResult(data);
        break;
      case "error":
        throw new Problem(0, data.detail);
      case "done":
        return {
          firstWordMs,
          totalMs: performance.now() - startedAt,
          waitsFor: waitedFor(data.tool_calls),
          grounds: { sources: data.sources, knowledge: data.knowledge },
        };
    }
  }
  throw new Problem(0, CUT_SHORT);
}

function waitedFor(calls: readonly { tool_call_id: string; timeout_ms?: number }[] = []): WaitedCalls {
  return Object.fromEntries(
    calls.flatMap(({ tool_call_id: id, timeout_ms: ms }) => (ms === undefined ? [] : [[id, ms]])),
  );
}

/** Opens a chat with the agent as it is tried, which begins with its greeting. @throws Problem with the API's detail */
export function startTestChat(setup: Setup, signal: AbortSignal) {
  const { agentId, version, changes, asksStartWebhook } = setup;
  const variables = givenValues(setup);
  const body = {
    agent_id: agentId,
    agent_version: version,
    dynamic_variables: variables,
    draft: changes,
    asks_start_webhook: asksStartWebhook,
  };
  return api.POST("/v1/manage/test-chats", { body, signal });
}
