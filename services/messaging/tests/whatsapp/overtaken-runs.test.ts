import { afterAll, afterEach, expect, test } from "bun:test";
import { type Connected, startTestWhatsApp } from "./kit.ts";

// A process that freezes for longer than its lease continues where it stopped, beside the process that took its thread over. Here, both
// runs are in one process: the clock jumps while the first one waits for another service.

const service = await startTestWhatsApp();
afterAll(() => service.stop());
afterEach(() => {
  service.fakes.whatsapp = undefined;
  service.fakes.conversations.starting = () => {};
});

/** Longer than the lease of a thread. */
const FROZEN_MS = 20_000;
let persons = 0;
const person = () => `4916${String(10_000_000 + ++persons)}`;
const turnsOf = ({ ownerId }: Connected) =>
  service.fakes.conversations.turns.filter((turn) => turn.ownerId === ownerId).map(({ message }) => message);

/** Holds up the first of several calls, until told, and reports that it has come. */
function heldUp(): { come: Promise<void>; first(): Promise<void>; goOn(): void } {
  const [came, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let calls = 0;
  return {
    come: came.promise,
    first: async () => {
      if (++calls > 1) return;
      came.resolve();
      await going.promise;
    },
    goOn: going.resolve,
  };
}

/** Lets the overtaken run end, and has another message answered, which waits for everything that the run left behind. */
async function endRuns(
  number: Connected,
  from: string,
  hold: { goOn(): void },
  textsBefore: number,
): Promise<string[]> {
  hold.goOn();
  await service.replaceProcess();
  await service.write(number, from, "And then?");
  service.quiet();
  return service.texts(from, textsBefore + 1);
}

test("a run that was overtaken before its turn began does not begin the turn again", async () => {
  const [number, from] = [service.connect(), person()];
  const hold = heldUp();
  service.fakes.conversations.starting = hold.first;
  await service.write(number, from, "Hi");
  service.quiet();
  await hold.come;
  service.clock.advance(FROZEN_MS);
  expect(await service.texts(from, 1)).toEqual(["You said: Hi"]);
  expect(await endRuns(number, from, hold, 1)).toEqual(["You said: Hi", "You said: And then?"]);
  expect(turnsOf(number)).toEqual(["Hi", "And then?"]);
});

test("a run that was overtaken while it transcribed a message does not have it answered again", async () => {
  const [number, from] = [service.connect(), person()];
  const { transcribe } = service.fakes.speech;
  const hold = heldUp();
  service.fakes.speech.transcribe = async () => {
    await hold.first();
    return "the words";
  };
  await service.meta.write(number.phoneNumberId, from, { audio: Buffer.from("a note") });
  service.quiet();
  await hold.come;
  service.clock.advance(FROZEN_MS);
  expect(await service.texts(from, 1)).toEqual(["You said: the words"]);
  expect(await endRuns(number, from, hold, 1)).toEqual(["You said: the words", "You said: And then?"]);
  service.fakes.speech.transcribe = transcribe;
});

test("a run that was overtaken while it spoke a reply does not send it again", async () => {
  const [number, from] = [service.connect(), person()];
  const { speak } = service.fakes.speech;
  const hold = heldUp();
  service.fakes.speech.speak = async (text) => {
    await hold.first();
    return Buffer.from(`spoken ${text}`);
  };
  service.fakes.whatsapp = { voice_replies: true };
  // No status says that the message has arrived.
  service.meta.statuses = [];
  await service.meta.write(number.phoneNumberId, from, { audio: Buffer.from("a note") });
  service.quiet();
  await hold.come;
  service.clock.advance(FROZEN_MS);
  await service.texts(from, 1);
  await endRuns(number, from, hold, 1);
  const spoken = service.meta.sent.filter(({ to, type }) => to === from && type === "audio");
  expect(spoken).toHaveLength(1);
  service.fakes.speech.speak = speak;
});
