import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { type Caller, startCaller } from "../kit/calls/caller.ts";
import { phoneSentence } from "../kit/calls/phone-sentence.ts";
import { marked, startScriptedSpeech } from "../kit/calls/scripted-speech.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { findProcess } from "../kit/stack/use-stack.ts";
import { createAgent } from "../kit/test-agent.ts";

const WORDS = "What about the other one?";
const REPLY = Array.from({ length: 10 }, (_, at) => `There are ${at + 2} of them on the next floor.`).join(" ");
const WITHIN_MS = 60_000;

let caller: Caller | undefined;
const stack = await sharedStack();
const model = await startScriptedModel();
model.always((exchange) => {
  exchange.text(REPLY);
  exchange.finish();
});
// Two seconds for each sentence, which is long enough to interrupt.
const speech = startScriptedSpeech(WORDS, 2, "marked");
const api = stack.api(stack.owners[0].apiKey);
afterAll(async () => {
  caller?.close();
  await speech.stop();
  await model.stop();
  await stack.stop();
});

test(
  "a phone that speaks over the agent silences it, and only what was heard of its reply is stored",
  async () => {
    const agentId = await createAgent(api, model, speech.settings);
    const sentence = marked(await phoneSentence(stack, WORDS));
    const { sip_address: sip = "" } = findProcess(stack.home, "voice");
    const conversation = async () => (await api.get(`/conversations?agent_id=${agentId}`)).body.data[0];
    let loudFrames = 0;
    let quietFrames = 0;
    caller = await startCaller(sip, agentId, (frame) => {
      const isLoud = frame.some((sample) => Math.abs(sample) > 1_000);
      if (isLoud) loudFrames++;
      quietFrames = isLoud ? 0 : quietFrames + 1;
    });

    caller.say(sentence);
    // The caller has heard a second of the reply.
    await eventually(() => expect(loudFrames).toBeGreaterThan(50), WITHIN_MS);
    caller.say(sentence);
    // Without the interruption, the reply would continue for twenty seconds.
    await eventually(() => expect(quietFrames).toBeGreaterThan(10), WITHIN_MS);
    // A busy machine may make the agent pause too.
    const said = async () => (await conversation()).conversation_transcript.length;
    await eventually(async () => expect(await said()).toBeGreaterThanOrEqual(3), WITHIN_MS);
    loudFrames = 0;
    await eventually(() => expect(loudFrames).toBeGreaterThan(10), WITHIN_MS);
    await caller.hangUp();

    await eventually(async () => {
      const stored = await conversation();
      expect(stored).toMatchObject({ conversation_type: "WEB", conversation_status: "COMPLETED" });
      const [first, cutShort, second] = stored.conversation_transcript;
      expect(first).toMatchObject({ role: "user", content: WORDS });
      expect(second).toMatchObject({ role: "user", content: WORDS });
      expect(cutShort.content).not.toBe("");
      expect(REPLY).toStartWith(cutShort.content);
      expect(cutShort.content.length).toBeLessThan(REPLY.length / 2);
    }, WITHIN_MS);
  },
  4 * WITHIN_MS,
);
