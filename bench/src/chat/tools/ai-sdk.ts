/** The Express stack with one tool, as a team writes it with the AI SDK: the model calls the tool, then replies. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, type LanguageModel, type ModelMessage, tool } from "ai";
import { z } from "zod";
import { serveChat } from "../express/chat.ts";
import type { Agent, Message } from "../express/store.ts";

const models = new Map<string, LanguageModel>();

const tools = {
  find_order: tool({
    description: "Looks up an order.",
    inputSchema: z.object({ order_id: z.string() }),
    execute: async ({ order_id }) => {
      const response = await fetch(`${process.env.ORDERS_URL}/orders/${encodeURIComponent(order_id)}`);
      if (!response.ok) throw new Error(`The order server answered ${response.status}`);
      return response.json();
    },
  }),
};

serveChat(async ({ sessionId, llm, prompt, messages }, store, res) => {
  const { text, responseMessages } = await generateText({
    model: modelOf(llm),
    instructions: prompt,
    messages: messages.flatMap(modelMessages),
    tools,
    stopWhen: isStepCount(2),
  });
  await store.insertMessage(sessionId, { role: "assistant", content: JSON.stringify(responseMessages) });
  res.json({ response: text, session_id: sessionId });
});

/** A reply is stored as the SDK's messages, the tool call and its result included. */
function modelMessages({ role, content }: Message): ModelMessage[] {
  return role === "user" ? [{ role, content }] : (JSON.parse(content) as ModelMessage[]);
}

function modelOf({ model, baseUrl, apiKey }: Agent["llm"]): LanguageModel {
  const name = `${baseUrl} ${apiKey} ${model}`;
  const known = models.get(name) ?? createOpenAICompatible({ name: "bench", baseURL: baseUrl, apiKey })(model);
  models.set(name, known);
  return known;
}
