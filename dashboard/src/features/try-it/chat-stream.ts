import { api, ask, unreachable } from "../../api/client.ts";
import { problemIn } from "../../api/problem.ts";
import { givenValues, type Setup } from "./setup.ts";

export interface Reply {
  /** Milliseconds to the first word, and to the last. */
  firstWordMs: number;
  totalMs: number;
}

/**
 * Sends a message to the agent as it is on the screen and reads the reply word by word.
 * @param sessionId of the chat to continue with; null begins one
 * @param onSession called with the session as soon as the API has accepted the message, even if no reply comes
 * @throws Problem with the API's detail
 */
export async function streamReply(
  setup: Setup,
  sessionId: string | null,
  message: string,
  onSession: (sessionId: string) => void,
  onText: (text: string) => void,
  signal: AbortSignal,
): Promise<Reply> {
  const startedAt = performance.now();
  const response = await fetch("/v1/public/chat", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      agent_id: setup.agentId,
      message,
      session_id: sessionId,
      metadata: { dynamic_variables: givenValues(setup) },
      draft: setup.changes,
    }),
    signal,
  }).catch(unreachable);
  const session = response.headers.get("x-session-id");
  if (session) onSession(session);
  if (!response.ok || !response.body) throw problemIn(response, await response.json().catch(() => null));
  let firstWordMs = 0;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const next = () => reader.read().catch(unreachable);
  for (let read = await next(); !read.done; read = await next()) {
    firstWordMs ||= performance.now() - startedAt;
    onText(read.value);
  }
  return { firstWordMs, totalMs: performance.now() - startedAt };
}

/** Opens a chat with the agent as it is on the screen, which begins with its greeting. @throws Problem with the API's detail */
export function startTestChat(setup: Setup, signal: AbortSignal) {
  const body = { agent_id: setup.agentId, dynamic_variables: givenValues(setup), draft: setup.changes };
  return ask(api.POST("/v1/manage/test-chats", { body, signal }));
}
