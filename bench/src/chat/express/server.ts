/** A chat API as a team writes it without Parley: Express, the `openai` SDK and `pg`. It speaks Parley's API, without rate limits. */
import type { Response } from "express";
import OpenAI from "openai";
import { serveChat, type Turn } from "./chat.ts";
import type { Agent, Store } from "./store.ts";

const clients = new Map<string, OpenAI>();

serveChat((turn, store, res) => (turn.streamed ? streamReply(turn, store, res) : sendReply(turn, store, res)));

async function sendReply(turn: Turn, store: Store, res: Response) {
  const { choices } = await clientOf(turn.llm).chat.completions.create(requestOf(turn));
  const content = choices[0]?.message.content ?? "";
  await store.insertMessage(turn.sessionId, { role: "assistant", content });
  res.json({ response: content, session_id: turn.sessionId });
}

async function streamReply(turn: Turn, store: Store, res: Response) {
  const stream = await clientOf(turn.llm).chat.completions.create({ ...requestOf(turn), stream: true });
  res.on("close", () => stream.controller.abort());
  res.setHeader("Content-Type", "text/plain; charset=utf-8");
  let content = "";
  for await (const { choices } of stream) {
    const words = choices[0]?.delta.content;
    if (!words) continue;
    content += words;
    res.write(words);
  }
  await store.insertMessage(turn.sessionId, { role: "assistant", content });
  res.end();
}

function requestOf({ llm, prompt, messages }: Turn) {
  const system = { role: "system", content: prompt } as const;
  return { model: llm.model, messages: [system, ...messages] };
}

/** Clients keep connections open, so each provider has one. */
function clientOf({ baseUrl, apiKey }: Agent["llm"]): OpenAI {
  const name = `${baseUrl} ${apiKey}`;
  const client = clients.get(name) ?? new OpenAI({ baseURL: baseUrl, apiKey });
  clients.set(name, client);
  return client;
}
