import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { obtain } from "@parley/testkit/programs/obtain";
import { obtainPocketSphinx } from "../kit/calls/pocketsphinx.ts";
import { spokenSentence } from "../kit/calls/spoken-sentence.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { connectWhatsApp, controlWhatsApp } from "../kit/whatsapp.ts";

const SENTENCE = "I would like to book a table for two people please";
const FROM = "4917012350001";
/** Recognition is slow on a busy machine. */
const WITHIN_MS = 150_000;

await obtainPocketSphinx();
const stack = await sharedStack();
const model = await startScriptedModel();
model.always((exchange) => {
  exchange.text("A table for two, of course.");
  exchange.finish();
});
const api = stack.api(stack.owners[0].apiKey);
afterAll(async () => {
  await model.stop();
  await stack.stop();
});

test("a voice message on WhatsApp is heard by the agent's recognition and answered in its voice", async () => {
  const agentId = await createAgent(api, model, { whatsapp: { voice_replies: true } });
  const { phoneNumberId } = await connectWhatsApp(stack, stack.owners[0].ownerId, "+15105550110", agentId);
  const audio = Buffer.from(await voiceMessage()).toString("base64");
  await controlWhatsApp(stack, "messages", { phone_number_id: phoneNumberId, from: FROM, audio });
  const [reply] = await eventually(async () => {
    const { messages } = await controlWhatsApp(stack, `messages?to=${FROM}`);
    expect(messages).toHaveLength(1);
    return messages;
  }, WITHIN_MS);
  expect(reply.type).toBe("audio");
  expect(Buffer.from(reply.audio, "base64").subarray(0, 4).toString()).toBe("OggS");
  const { data } = (await api.get(`/conversations?agent_id=${agentId}`)).body;
  expect(data).toMatchObject([{ conversation_type: "WHATSAPP", conversation_transcript: [{}, {}] }]);
  expect(data[0].conversation_transcript[0].content).toContain("table for two people");
}, 240_000);

/** The sentence as WhatsApp's apps record it. */
async function voiceMessage(): Promise<Uint8Array> {
  const speechUrl = `http://${stack.address("speech")}/v1`;
  const wav = await spokenSentence(speechUrl, SENTENCE, { beforeSeconds: 0.2, afterSeconds: 0.3 });
  const encoder = Bun.spawn([await obtain("opusenc"), "--quiet", "--bitrate", "16", "-", "-"], {
    stdin: new Blob([wav as Uint8Array<ArrayBuffer>]),
    stdout: "pipe",
    stderr: "inherit",
  });
  return new Response(encoder.stdout).bytes();
}
