import { afterEach, beforeEach, expect, test } from "bun:test";
import { parseAllowList } from "@parley/shared/egress/allow-list";
import { createEgress, type Egress } from "@parley/shared/egress/egress";
import { wavHeader } from "@parley/shared/media/wav";
import { eventually } from "@parley/testkit/eventually";
import { type RawServer, startRawServer } from "@parley/testkit/network/raw-server";
import { durationMs } from "../src/audio/pcm.ts";
import type { Times } from "../src/speech/access.ts";
import { selectTextToSpeech } from "../src/speech/providers.ts";
import { speakWhole } from "../src/speech/speak-whole.ts";
import type { SpokenEvent } from "../src/speech/tts.ts";
import { fakeConversations } from "./kit/fake-conversations.ts";
import { newCall } from "./kit/scripted-call.ts";

const SAMPLES_PER_SECOND = 16_000;
const HEAD = Buffer.concat([
  Buffer.from("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"),
  wavHeader({ samplesPerSecond: SAMPLES_PER_SECOND, channels: 1 }),
]);
const FIVE_MINUTES = Buffer.concat([HEAD, Buffer.alloc(300 * 2 * SAMPLES_PER_SECOND, 1)]);
const SECOND = Buffer.concat([HEAD, Buffer.alloc(2 * SAMPLES_PER_SECOND, 1)]);

let egress: Egress;
let over: AbortController;
beforeEach(() => {
  egress = createEgress({ allow: parseAllowList("127.0.0.1") });
  over = new AbortController();
});
afterEach(() => {
  over.abort();
  egress.close();
});

const speaks = (bytes: Buffer) => startRawServer((socket) => socket.end(bytes));

function voiceAt({ url }: Pick<RawServer, "url">, times?: Partial<Times>) {
  const endpoint = { baseUrl: url, apiKey: undefined };
  const settings = { variables: {}, guardedFetch: egress.fetch, ...(times && { times }) };
  return selectTextToSpeech({ providerName: "CUSTOM_TTS", modelName: undefined, endpoint }, settings);
}

/** The milliseconds that a server speaks outside of a call. */
async function spokenBy(server: Pick<RawServer, "url">): Promise<number> {
  let ms = 0;
  const take = (audio: Int16Array) => {
    ms += durationMs(audio.length);
    return false;
  };
  await speakWhole(
    voiceAt(server),
    { sentences: ["Hello."], options: { voiceId: "v", params: {} }, take },
    over.signal,
  );
  return ms;
}

/** A call whose agent greets with the voice of an owner's server. */
function greetedBy(server: Pick<RawServer, "url">) {
  const conversations = fakeConversations({ greeting: "Hello." });
  return newCall({ conversations, voice: { ...voiceAt(server), said: [], languages: [] } });
}

test("an owner's server that sends minutes at once is read as far as half a minute ahead of what is played", async () => {
  await using fast = await speaks(FIVE_MINUTES);
  await using other = await speaks(SECOND);
  const { leg, leaves } = await greetedBy(fast);
  await eventually(() => expect(durationMs(leg.queuedSamples())).toBeGreaterThanOrEqual(30_000));
  for (let replies = 0; replies < 20; replies++) expect(await spokenBy(other)).toBe(1_000);
  expect(durationMs(leg.queuedSamples())).toBeLessThan(35_000);
  await leaves();
});

test("all that an owner's server sends at once is played in the end", async () => {
  await using fast = await speaks(Buffer.concat([HEAD, Buffer.alloc(50 * 2 * SAMPLES_PER_SECOND, 1)]));
  const { leg, time, leaves } = await greetedBy(fast);
  await eventually(() => expect(durationMs(leg.queuedSamples())).toBeGreaterThanOrEqual(30_000));
  await eventually(async () => {
    await time.pass(1_000);
    expect(durationMs(leg.heardSamples())).toBe(50_000);
  });
  await leaves();
});

test("speech that nobody plays, as for a voice note, is read at once", async () => {
  await using fast = await speaks(FIVE_MINUTES);
  expect(await spokenBy(fast)).toBe(300_000);
});

test("a server that waits because the call has audio enough is not taken for one that has stalled", async () => {
  let requests = 0;
  await using fast = await startRawServer((socket) => {
    requests++;
    socket.end(SECOND);
  });
  await using stalled = await startRawServer(() => {});
  const room = Promise.withResolvers<void>();
  // Long enough for the first server to be connected to on a busy machine.
  const times = { stallMs: 2_000, retryMs: 1 };
  const events: SpokenEvent[] = [];
  const options = { voiceId: "v", params: {}, signal: over.signal };
  const reply = voiceAt(fast, times).speak({ ...options, room: () => room.promise }, (event) => events.push(event));
  reply.say("Hello.");
  await eventually(() => expect(events.length).toBeGreaterThan(0));
  reply.end();
  const failed = Promise.withResolvers<void>();
  const late = voiceAt(stalled, times).speak(options, ({ type }) => type === "failed" && failed.resolve());
  late.say("Hello.");
  late.end();
  await failed.promise;
  room.resolve();
  await eventually(() => expect(events.at(-1)?.type).toBe("done"));
  expect(requests).toBe(1);
});
