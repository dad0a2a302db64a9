import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { startScriptedSpeech } from "../kit/calls/scripted-speech.ts";
import { echoOf, startScriptedModel } from "../kit/scripted-model.ts";
import { createAgent } from "../kit/test-agent.ts";
import { connectWhatsApp, controlWhatsApp } from "../kit/whatsapp.ts";
import { stack } from "./text-stack.ts";

/** The long run: PARLEY_TEST_PEOPLE=50 bun run test tests/faults/text-faults. */
const PEOPLE = Number(process.env.PARLEY_TEST_PEOPLE ?? 6);
const MESSAGES = 3;
/** The one of a person's messages that is spoken. */
const SPOKEN = 1;
const HEARD = "What about the other one?";
const KILLED = ["messaging", "conversation", "voice", "messaging"] as const;
const WITHIN_MS = 240_000 + PEOPLE * 5_000;

const model = await startScriptedModel();
const speech = startScriptedSpeech(HEARD, 0.1);
const api = stack.api(stack.owners[1].apiKey);
const agentId = await createAgent(api, model, speech.settings);
const number = await connectWhatsApp(stack, stack.owners[1].ownerId, "+15105550170", agentId);
afterAll(async () => {
  await speech.stop();
  await model.stop();
});

test(
  "whatever is killed between a message and its reply, no message is lost, and each reply is sent once and in order",
  async () => {
    const people = Array.from({ length: PEOPLE }, (_, at) => `49170123500${String(at).padStart(2, "0")}`);
    let answered = 0;
    const talks = people.map(async (person) => {
      for (let at = 0; at < MESSAGES; at++) {
        await write(person, at);
        await eventually(async () => expect(await textsTo(person)).toHaveLength(at + 1), WITHIN_MS);
        answered++;
      }
    });
    for (const [at, name] of KILLED.entries()) {
      // Each process is killed while some messages are answered and others are not.
      await eventually(() => expect(answered).toBeGreaterThanOrEqual(at), WITHIN_MS);
      await stack.kill(name).back;
    }
    await Promise.all(talks);

    for (const person of people) {
      const said = Array.from({ length: MESSAGES }, (_, at) => (at === SPOKEN ? HEARD : wordsOf(person, at)));
      expect(await textsTo(person)).toEqual(said.map(echoOf));
      expect(await transcriptOf(person)).toEqual(
        said.flatMap((words) => [`user: ${words}`, `assistant: ${echoOf(words)}`]),
      );
    }
  },
  WITHIN_MS * 2,
);

const wordsOf = (person: string, at: number) => `message ${at} of ${person}`;

/** Like Meta: repeats the callback with the same id until it is answered with 200. */
function write(person: string, at: number): Promise<void> {
  const words = at === SPOKEN ? { say: HEARD } : { text: wordsOf(person, at) };
  const message = {
    phone_number_id: number.phoneNumberId,
    from: person,
    message_id: `wamid.${person}.${at}`,
    ...words,
  };
  return eventually(async () => {
    const { callback_status: status } = await controlWhatsApp(stack, "messages", message);
    if (status !== 200) throw new Error(`the callback was answered with ${status}`);
  }, WITHIN_MS);
}

async function textsTo(person: string): Promise<string[]> {
  const { messages } = await controlWhatsApp(stack, `messages?to=${person}`);
  return messages.map(({ text }: { text: string }) => text);
}

async function transcriptOf(person: string): Promise<string[]> {
  const { data } = (await api.get("/conversations?page_size=100")).body;
  const own = data.filter(
    ({ conversation_metadata: { from_mobile_number } }: { conversation_metadata: Record<string, string> }) =>
      from_mobile_number === `+${person}`,
  );
  expect(own).toHaveLength(1);
  return own[0].conversation_transcript.map(({ role, content }: Record<string, string>) => `${role}: ${content}`);
}
