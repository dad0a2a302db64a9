import { createHash, randomUUID } from "node:crypto";
import express, { type Response } from "express";
import { type Agent, type Message, openStore, type Store } from "./store.ts";

interface ChatBody {
  agent_id: string;
  session_id?: string;
  message: string;
  streaming: boolean;
  metadata: { dynamic_variables: Record<string, string> };
}

/** A turn whose user message is stored. */
export interface Turn {
  sessionId: string;
  llm: Agent["llm"];
  /** With the values of its variables. */
  prompt: string;
  /** Oldest first, the user's new one last. */
  messages: Message[];
  streamed: boolean;
}

/** Serves Parley's chat API, without rate limits. `reply` asks the model, stores its reply and sends it. */
export function serveChat(reply: (turn: Turn, store: Store, res: Response) => Promise<void>): void {
  const store = openStore(process.env.DATABASE_URL ?? "");
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

    const prompt = fill(agent.prompt, body.metadata.dynamic_variables);
    res.setHeader("X-Session-Id", sessionId);
    const turn = { sessionId, llm: agent.llm, prompt, messages: [...earlier, message], streamed: body.streaming };
    await reply(turn, store, res);
  });

  app.listen(Number(process.env.PORT), "127.0.0.1");
}

function fill(prompt: string, variables: Record<string, string>): string {
  return prompt.replace(/\{\{(\w+)\}\}/g, (text, name: string) => variables[name] ?? text);
}
