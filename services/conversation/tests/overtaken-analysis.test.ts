import { afterAll, expect, test } from "bun:test";
import type { ModelCall } from "@parley/testkit/scripted-model";
import { endedChat, eventOf, payloadOf } from "./events-kit.ts";
import { createAgent, inline, startTestChat } from "./kit.ts";

const AT_ONCE = 2;
/** Longer than the lease of an analysis. */
const FROZEN_MS = 31_000;

const service = await startTestChat({ PARLEY_ANALYSES_AT_ONCE: String(AT_ONCE) });
afterAll(() => service.stop());

/** The next questions about ended conversations, for the test to answer. */
function nextAnalyses(count: number): Promise<ModelCall[]> {
  const calls: ModelCall[] = [];
  return new Promise((resolve) => {
    service.model.script = (call) => {
      if (calls.push(call) === count) resolve(calls);
    };
  });
}

// A process that freezes for longer than its lease continues beside the one that took its job over. Here, both runs are in one process.
test("an analysis that was overtaken does not replace the one that the webhook has", async () => {
  const analysis = { enabled: true, prompt: inline("Summarize."), schema: undefined };
  const agent = await createAgent(service, { tools: { end_call: true }, analysis });
  let asked = nextAnalyses(1);
  const conversationId = await endedChat(service, agent);
  const [overtaken] = await asked;
  asked = nextAnalyses(1);
  service.clock.advance(FROZEN_MS);
  const [newer] = await asked;
  newer?.finish("The newer summary.");
  const [sent] = payloadOf(await eventOf(service, conversationId)).conversation_analysis;
  expect(sent.value).toBe("The newer summary.");

  overtaken?.finish("The older summary.");
  // Two analyses run at once, so others begin only when both of the conversation's have ended.
  asked = nextAnalyses(AT_ONCE);
  for (let others = 0; others < AT_ONCE; others++) await endedChat(service, agent);
  const others = await asked;
  const { conversation } = await service.chat.getConversation({ ownerId: agent.ownerId, conversationId });
  expect(conversation?.analysis?.items[0]?.value).toBe("The newer summary.");
  for (const call of others) call.finish("Another summary.");
});
