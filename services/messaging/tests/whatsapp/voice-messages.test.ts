import { afterAll, afterEach, expect, test } from "bun:test";
import { ServiceError } from "@parley/shared/errors";
import { eventually } from "@parley/testkit/eventually";
import { echo } from "./fakes.ts";
import { person, startTestWhatsApp } from "./kit.ts";

const service = await startTestWhatsApp();
afterEach(() => service.reset());
afterAll(() => service.stop());

test("a voice message is transcribed, and answered with a voice message if the agent is set to", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.whatsapp = { voice_replies: true };
  await service.meta.write(number.phoneNumberId, from, { audio: Buffer.from("a note") });
  service.quiet();
  await service.texts(from, 1);
  const [answer] = service.meta.sent.filter(({ to }) => to === from);
  expect(answer?.type).toBe("audio");
  expect(Buffer.from(answer?.audio ?? []).toString()).toBe("spoken You said: the words");
  await service.write(number, from, "In writing, please");
  service.quiet();
  expect((await service.texts(from, 2)).at(-1)).toBe("You said: In writing, please");
});

test("a reply that cannot be spoken is sent as text", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.whatsapp = { voice_replies: true };
  const { speak } = service.fakes.speech;
  service.fakes.speech.speak = () => {
    throw new ServiceError("condition", "Agent has no TTS configuration: set tts");
  };
  await service.meta.write(number.phoneNumberId, from, { audio: Buffer.from("a note") });
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: the words"]);
  service.fakes.speech.speak = speak;
});

test("a voice message that cannot be transcribed is announced to the agent, immediately or when its provider stays down", async () => {
  const [number, from] = [service.connect(), person()];
  const { transcribe } = service.fakes.speech;
  service.fakes.speech.transcribe = () => {
    throw new ServiceError("condition", "Agent has no STT configuration: set stt");
  };
  const note = () => service.meta.write(number.phoneNumberId, from, { audio: Buffer.from("a note") });
  await note();
  service.quiet();
  const unheard = "You said: [a voice message that could not be transcribed]";
  expect(await service.texts(from, 1)).toEqual([unheard]);
  let attempts = 0;
  service.fakes.speech.transcribe = () => {
    attempts++;
    throw new ServiceError("upstream_failed", "DEEPGRAM does not work");
  };
  await note();
  service.quiet();
  // Two, if the first one began before the service was quiet.
  await eventually(() => expect(attempts).toBeGreaterThan(0));
  await service.pass(3 * 60_000);
  expect(await service.texts(from, 2)).toEqual([unheard, unheard]);
  service.fakes.speech.transcribe = transcribe;
});

test("the reply of an agent that is deleted during its turn is sent as text", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.whatsapp = { voice_replies: true };
  service.fakes.conversations.reply = (turn) => {
    service.fakes.goneAgents.add(turn.agentId);
    return echo(turn);
  };
  await service.meta.write(number.phoneNumberId, from, { audio: Buffer.from("a note") });
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: the words"]);
});

test("a blank reply to a voice message is not sent", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.whatsapp = { voice_replies: true };
  service.fakes.conversations.reply = () => "\n";
  await service.meta.write(number.phoneNumberId, from, { audio: Buffer.from("a note") });
  service.quiet();
  await eventually(() => expect(service.turnsOf(number)).toHaveLength(1));
  service.fakes.conversations.reply = echo;
  await service.write(number, from, "Hello?");
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Hello?"]);
});
