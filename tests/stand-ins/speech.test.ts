import { afterAll, describe, expect, test } from "bun:test";
import { openRecognizer } from "@parley/dev/stand-ins/speech/recognizer.ts";
import { startSpeech } from "@parley/dev/stand-ins/speech/server.ts";
import { resampler } from "@parley/shared/media/resample";
import { PHONE_HZ } from "@parley/shared/phone/audio";
import { obtainPocketSphinx } from "../kit/calls/pocketsphinx.ts";

await obtainPocketSphinx();
const speech = startSpeech();
afterAll(() => speech.stop());

const HEADER_BYTES = 44;
const SAMPLES_PER_SECOND = 16_000;

const speak = (body: object) =>
  fetch(`${speech.url}/v1/audio/speech`, { method: "POST", body: JSON.stringify({ model: "any", ...body }) });

async function samplesOf(body: object): Promise<Int16Array> {
  const response = await speak(body);
  expect(response.status).toBe(200);
  return new Int16Array(await response.arrayBuffer(), HEADER_BYTES);
}

function transcribe(wav: Uint8Array | string, fields: Record<string, string> = {}): Promise<Response> {
  const form = new FormData();
  form.set("file", new Blob([wav as Uint8Array<ArrayBuffer>]), "speech.wav");
  for (const [name, value] of Object.entries({ model: "any", ...fields })) form.set(name, value);
  return fetch(`${speech.url}/v1/audio/transcriptions`, { method: "POST", body: form });
}

async function heard(wav: Uint8Array): Promise<string> {
  const { text } = (await (await transcribe(wav)).json()) as { text: string };
  return text;
}

async function errorOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { message: string } };
  return error.message;
}

/** A sentence in the voice that PocketSphinx understands best, between silences. */
async function spoken(input: string): Promise<Uint8Array> {
  const response = await speak({ input, voice: "kal16" });
  const silence = new Uint8Array(SAMPLES_PER_SECOND);
  const said = new Uint8Array(await response.arrayBuffer());
  return Buffer.concat([said.subarray(0, HEADER_BYTES), silence, said.subarray(HEADER_BYTES), silence]);
}

test("what the speech stand-in says is a WAV stream of 16-bit samples, 16,000 a second, that lasts as long as the sentence", async () => {
  const response = await speak({ input: "Hello, how are you?", voice: "alloy" });
  expect(response.headers.get("content-type")).toBe("audio/wav");
  const wav = await response.arrayBuffer();
  const header = new DataView(wav);
  expect(Buffer.from(wav, 0, 4).toString()).toBe("RIFF");
  expect([header.getUint16(20, true), header.getUint16(22, true), header.getUint32(24, true)]).toEqual([1, 1, 16_000]);
  const samples = new Int16Array(wav, HEADER_BYTES);
  expect(samples.length / SAMPLES_PER_SECOND).toBeWithin(0.8, 2.5);
  expect(Math.max(...samples)).toBeGreaterThan(3_000);
});

test("what the speech stand-in says continues after the first sentence", async () => {
  const one = await samplesOf({ input: "Hello there." });
  const two = await samplesOf({ input: "Hello there. How are you today?" });
  expect(two.length).toBeGreaterThan(one.length * 1.5);
  expect(two.subarray(0, one.length)).toEqual(one);
});

test("what the speech stand-in says is shorter when spoken faster", async () => {
  const [normal, fast] = [
    await samplesOf({ input: "Hello there." }),
    await samplesOf({ input: "Hello there.", speed: 2 }),
  ];
  expect(fast.length / normal.length).toBeWithin(0.4, 0.6);
});

test.each(["...", "", "  "])("what the speech stand-in says is silence for %j, which has no words", async (input) => {
  expect(await samplesOf({ input })).toHaveLength(0);
});

test.each([
  ["Missing required parameter: 'input'", {}],
  ["at most 4096 characters", { input: "a".repeat(4_097) }],
  ["Invalid value for 'speed'", { input: "a", speed: 5 }],
  ["set response_format to 'wav'", { input: "a", response_format: "mp3" }],
])("what the speech stand-in says is refused with a sentence that says why: %s", async (why, body) => {
  const response = await speak(body);
  expect(response.status).toBe(400);
  expect(await errorOf(response)).toContain(why);
});

describe("what the speech stand-in hears", () => {
  test.each(["what is the weather like today", "my name is john", "goodbye"])(
    "is %j when its own voice says so",
    async (sentence) => {
      expect(await heard(await spoken(sentence))).toBe(sentence);
    },
  );

  test.each(["do you have time on monday", "when are you open", "what are your opening hours"])(
    "is %j also on the telephone, which has half of the sound",
    async (sentence) => {
      const wav = await spoken(sentence);
      const samples = new Int16Array(wav.slice(HEADER_BYTES).buffer);
      const onPhone = resampler(PHONE_HZ, SAMPLES_PER_SECOND)(resampler(SAMPLES_PER_SECOND, PHONE_HZ)(samples));
      expect(await heard(Buffer.concat([wav.subarray(0, HEADER_BYTES), new Uint8Array(onPhone.buffer)]))).toBe(
        sentence,
      );
    },
  );

  test("is the words so far when the sentence has not ended", async () => {
    const wav = await spoken("what is the weather like today");
    expect(await heard(wav.subarray(0, wav.length / 2))).toStartWith("what is the");
  });

  test("is plain text if requested", async () => {
    const response = await transcribe(await spoken("goodbye"), { response_format: "text" });
    expect(await response.text()).toBe("goodbye\n");
  });

  test("is empty for silence", async () => {
    const header = (await spoken("hello")).subarray(0, HEADER_BYTES);
    const silence = Buffer.concat([header, new Uint8Array(SAMPLES_PER_SECOND)]);
    expect(await heard(silence)).toBe("");
  });

  test.each(["", "RIFF", "not a WAV file, whatever its name says it is ...."])(
    "is refused if it is not a WAV file: %j",
    async (file) => {
      const response = await transcribe(file);
      expect(response.status).toBe(400);
      expect(await errorOf(response)).toContain("Send a WAV file");
    },
  );
});

test("without PocketSphinx, the speech stand-in says how to get it", async () => {
  const recognizer = openRecognizer(() => "Install it.");
  recognizer.warm();
  await expect(recognizer.hear(new Int16Array(10), new AbortController().signal)).rejects.toMatchObject({
    status: 503,
    message: "Install it.",
  });
});

test("a speech stand-in that runs already understands speech once PocketSphinx has been installed", async () => {
  const answers = ["Install it.", null];
  const recognizer = openRecognizer(() => answers.shift() ?? null);
  const { signal } = new AbortController();
  try {
    await expect(recognizer.hear(new Int16Array(10), signal)).rejects.toMatchObject({ status: 503 });
    expect(await recognizer.hear(new Int16Array(SAMPLES_PER_SECOND), signal)).toBeString();
  } finally {
    recognizer.close();
  }
});

test("a route that the speech stand-in lacks is refused with the routes that it has", async () => {
  const response = await fetch(`${speech.url}/v1/models`);
  expect(response.status).toBe(404);
  expect(await errorOf(response)).toContain("POST /v1/audio/speech, POST /v1/audio/transcriptions");
});
