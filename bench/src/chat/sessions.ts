import { PROMPT } from "../agents.ts";
import { COMPANY } from "./reply.ts";

/** A contender's address and API. */
export type Target = { url: string; headers: Record<string, string> } & (
  | { protocol: "parley"; agentId: string }
  | { protocol: "openai"; model: string }
);

export interface Reply {
  text: string;
  /** When its first piece arrived, in `performance.now()` time. */
  firstAtMs: number;
  /** Gaps between pieces, in milliseconds. */
  gapsMs: number[];
}

/** Starts a session; each call is a turn in it. @throws on any status but 200 */
export type Session = (message: string) => Promise<Reply>;

export function openSession(target: Target, streamed: boolean): Session {
  return target.protocol === "parley"
    ? parleySession(target, target.agentId, streamed)
    : openaiSession(target, target.model, streamed);
}

function parleySession(target: Target, agentId: string, streaming: boolean): Session {
  let sessionId: string | undefined;
  const metadata = { dynamic_variables: { company: COMPANY } };
  return async (message) => {
    const body = { agent_id: agentId, session_id: sessionId, message, streaming, metadata };
    const response = await post(`${target.url}/v1/public/chat`, target.headers, body);
    sessionId = response.headers.get("x-session-id") ?? undefined;
    if (streaming) return pieces(response, (text) => text);
    const { response: text } = (await response.json()) as { response: string };
    return { text, firstAtMs: performance.now(), gapsMs: [] };
  };
}

/** Acts like a client of a model's API: keeps the conversation and sends all of it each time. */
function openaiSession(target: Target, model: string, stream: boolean): Session {
  const messages = [{ role: "system", content: PROMPT.replace("{{company}}", COMPANY) }];
  return async (message) => {
    messages.push({ role: "user", content: message });
    const response = await post(`${target.url}/v1/chat/completions`, target.headers, {
      model,
      messages,
      stream,
    });
    const reply = stream ? await pieces(response, eventReader()) : await wholeReply(response);
    messages.push({ role: "assistant", content: reply.text });
    return reply;
  };
}

async function post(url: string, headers: Record<string, string>, body: object): Promise<Response> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response;
}

async function wholeReply(response: Response): Promise<Reply> {
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  return { text: choices[0]?.message.content ?? "", firstAtMs: performance.now(), gapsMs: [] };
}

/** @param read returns the text in what has arrived, possibly none */
async function pieces(response: Response, read: (received: string) => string): Promise<Reply> {
  const decoder = new TextDecoder();
  const gapsMs: number[] = [];
  let text = "";
  let firstAtMs = 0;
  let lastAtMs = 0;
  for await (const bytes of response.body ?? []) {
    const piece = read(decoder.decode(bytes, { stream: true }));
    if (piece === "") continue;
    const now = performance.now();
    if (text === "") firstAtMs = now;
    else gapsMs.push(now - lastAtMs);
    lastAtMs = now;
    text += piece;
  }
  return { text, firstAtMs, gapsMs };
}

/** Reads the text out of server-sent events, which may be cut anywhere. */
function eventReader(): (received: string) => string {
  let rest = "";
  return (received) => {
    const lines = (rest + received).split("\n");
    rest = lines.pop() ?? "";
    let text = "";
    for (const line of lines) {
      if (!line.startsWith("data: {")) continue;
      const { choices } = JSON.parse(line.slice(6)) as { choices: { delta: { content?: string } }[] };
      text += choices[0]?.delta.content ?? "";
    }
    return text;
  };
}
