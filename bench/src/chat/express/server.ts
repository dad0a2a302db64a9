/** A chat API as a team writes it without Parley: Express, the `openai` SDK and `pg`. It speaks Parley's API, without rate limits. */
import { createHash, randomUUID } from "node:crypto";
import express, { type Response } from "express";
import OpenAI from "openai";
import { type Agent, type Message, openStore } from "./store.ts";

interface ChatBody {
  agent_id: string;
  session_id?: string;
  message: string;
  streaming: boolean;
  metadata: { dynamic_variables: Record<string, string> };
}

const store = openStore(process.env.DATABASE_URL ?? "");
const clients = new Map<string, OpenAI>();
const app = express();
app.use(express.json());

app.post("/v1/public/chat", async (req, res) => {
  const ownerId = await store.findOwner(
    createHash("sha256")
      .update(req.get("x-api-key") ?? "")
      .digest(),
  );
  if (!ownerId) return void res.status(401).json({ detail: "Invalid API key" });
  const body = req.body as ChatBody;
  const agent = await store.findAgent(ownerId, body.agent_id);
  if (!agent) return void res.status(404).json({ detail: "Agent not found" });

  const sessionId = body.session_id ?? randomUUID();
  const earlier = body.session_id ? await store.listMessages(ownerId, sessionId) : [];
  if (body.session_id && earlier.length === 0) return void res.status(404).json({ detail: "Session not found" });
  if (!body.session_id) await store.insertConversation(sessionId, ownerId, body.agent_id);
  const message: Message = { role: "user", content: body.message };
  await store.insertMessage(sessionId, message);

  const system = { role: "system", content: fill(agent.prompt, body.metadata.dynamic_variables) } as const;
  const messages = [system, ...earlier, message];
  res.setHeader("X-Session-Id", sessionId);
  if (body.streaming) await streamReply(res, agent, sessionId, messages);
  else await sendReply(res, agent, sessionId, messages);
});

app.listen(Number(process.env.PORT), "127.0.0.1");

async function sendReply(res: Response, { llm }: Agent, sessionId: string, messages: (Message | System)[]) {
  const { choices } = await clientOf(llm).chat.completions.create({ model: llm.model, messages });
  const content = choices[0]?.message.content ?? "";
  await store.insertMessage(sessionId, { role: "assistant", content });
  res.json({ response: content, session_id: sessionId });
}

async function streamReply(res: Response, { llm }: Agent, sessionId: string, messages: (Message | System)[]) {
  const stream = await clientOf(llm).chat.completions.create({ model: llm.model, messages, stream: true });
  res.on("close", () => stream.controller.abort());
  res.setHeader("Content-Type", "text/plain; charset=utf-8");
  let content = "";
  for await (const { choices } of stream) {
    const words = choices[0]?.delta.content;
    if (!words) continue;
    content += words;
    res.write(words);
  }
  await store.insertMessage(sessionId, { role: "assistant", content });
  res.end();
}

interface System {
  role: "system";
  content: string;
}

/** Clients keep connections open, so each provider has one. */
function clientOf({ baseUrl, apiKey }: Agent["llm"]): OpenAI {
  const name = `${baseUrl} ${apiKey}`;
  const client = clients.get(name) ?? new OpenAI({ baseURL: baseUrl, apiKey });
  clients.set(name, client);
  return client;
}

function fill(prompt: string, variables: Record<string, string>): string {
  return prompt.replace(/\{\{(\w+)\}\}/g, (text, name: string) => variables[name] ?? text);
}
