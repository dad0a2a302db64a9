import { afterEach, beforeEach, expect, test } from "bun:test";
import { parseAllowList } from "@parley/shared/egress/allow-list";
import { createEgress, type Egress } from "@parley/shared/egress/egress";
import { eventually } from "@parley/testkit/eventually";
import { type Pcm, SAMPLES_PER_SECOND } from "../src/audio/pcm.ts";
import { wavReader } from "../src/audio/wav.ts";
import type { Times } from "../src/speech/access.ts";
import { selectSpeechToText } from "../src/speech/providers.ts";
import type { SpeechEvent } from "../src/speech/stt.ts";
import { type SpeechServer, startSpeechServer } from "./speech-server.ts";

interface Heard {
  path: string;
  authorization: string | null;
  fields: Record<string, string>;
  audio: Pcm;
}

let server: SpeechServer;
let egress: Egress;
let call: AbortController;
let heard: Heard[];
let answer: (request: Heard) => Response | Promise<Response>;
beforeEach(() => {
  server = startSpeechServer();
  egress = createEgress({ allow: parseAllowList(new URL(server.url).host) });
  call = new AbortController();
  heard = [];
  answer = ({ audio }) => Response.json({ text: ` ${audio.length} samples ` });
  server.onRequest = async (request) => {
    const form = await request.formData();
    const read = {
      path: new URL(request.url).pathname,
      authorization: request.headers.get("authorization"),
      fields: Object.fromEntries([...form].filter((entry): entry is [string, string] => typeof entry[1] === "string")),
      audio: wavReader()(new Uint8Array(await (form.get("file") as File).arrayBuffer())),
    };
    heard.push(read);
    return answer(read);
  };
});
afterEach(async () => {
  call.abort();
  egress.close();
  await server.stop();
});

function listen(
  { apiKey = "the-key", ...times }: Partial<Times> & { apiKey?: string | undefined } = {},
  baseUrl = `${server.url}/v1`,
) {
  const endpoint = { baseUrl, apiKey: apiKey === "" ? undefined : apiKey };
  const config = { providerName: "CUSTOM_STT", modelName: "any", endpoint };
  // An hour, so that there are no partial results unless a test wants them.
  const settings = { variables: {}, guardedFetch: egress.fetch, times: { partialMs: 3_600_000, retryMs: 1, ...times } };
  const stt = selectSpeechToText(config, settings);
  const events: SpeechEvent[] = [];
  const options = { model: "any", language: "en-US", params: {}, signal: call.signal };
  return { stt, events, stream: stt.listen(options, (event) => events.push(event)) };
}

const speech = (seconds: number) => new Int16Array(seconds * SAMPLES_PER_SECOND).fill(3_000);
const silence = (seconds: number) => new Int16Array(seconds * SAMPLES_PER_SECOND).fill(50);

test("an utterance is sent as a WAV file with the agent's model, language and key, and its words are final", async () => {
  const { stt, stream, events } = listen();
  stream.send(speech(1));
  stream.finalize();
  await eventually(() => expect(events).toEqual([{ type: "final", text: "16000 samples" }, { type: "finalized" }]));
  expect(stt.endsTurns).toBe(false);
  expect(heard).toMatchObject([
    {
      path: "/v1/audio/transcriptions",
      authorization: "Bearer the-key",
      fields: { model: "any", language: "en", response_format: "json" },
    },
  ]);
  expect(heard[0]?.audio).toEqual(speech(1));
});

test("without a key, none is sent", async () => {
  const { stream, events } = listen({ apiKey: "" });
  stream.send(speech(1));
  stream.finalize();
  await eventually(() => expect(events).toHaveLength(2));
  expect(heard[0]?.authorization).toBeNull();
});

test("the words so far are reported while the utterance grows, one request at a time", async () => {
  const gate = Promise.withResolvers<void>();
  answer = async ({ audio }) => {
    await gate.promise;
    return Response.json({ text: `${audio.length}` });
  };
  const { stream, events } = listen({ partialMs: 1 });
  stream.send(speech(1));
  await eventually(() => expect(heard).toHaveLength(1));
  stream.send(speech(1));
  gate.resolve();
  await eventually(() =>
    expect(events).toEqual([
      { type: "partial", text: "16000" },
      { type: "partial", text: "32000" },
    ]),
  );
  expect(heard).toHaveLength(2);
});

test("the words are requested when the user pauses, and finalize only waits for them", async () => {
  const { stream, events } = listen();
  stream.send(speech(1));
  for (let tenths = 0; tenths < 5; tenths++) stream.send(silence(0.1));
  await eventually(() => expect(events).toHaveLength(1));
  stream.finalize();
  // Whenever the end is noticed, the same words are the same audio.
  const text = `${1.15 * SAMPLES_PER_SECOND} samples`;
  const expected: SpeechEvent[] = [{ type: "partial", text }, { type: "final", text }, { type: "finalized" }];
  await eventually(() => expect(events).toEqual(expected));
  expect(heard).toHaveLength(1);
});

test("a user who continues after a pause is heard to the end", async () => {
  const { stream, events } = listen();
  stream.send(speech(1));
  for (let tenths = 0; tenths < 3; tenths++) stream.send(silence(0.1));
  stream.send(speech(1));
  stream.finalize();
  const final = { type: "final", text: `${2.3 * SAMPLES_PER_SECOND} samples` } as const;
  await eventually(() => expect(events.slice(-2)).toEqual([final, { type: "finalized" }]));
});

test("a word that begins while the end of what was said before is noticed is not cut in two, and begins the next utterance", async () => {
  const { stream, events } = listen();
  stream.send(speech(1));
  for (let tenths = 0; tenths < 2; tenths++) stream.send(silence(0.1));
  for (let pieces = 0; pieces < 3; pieces++) stream.send(speech(0.05));
  stream.finalize();
  stream.send(speech(1));
  for (let tenths = 0; tenths < 2; tenths++) stream.send(silence(0.1));
  stream.finalize();
  const [first, second] = [1.15, 0.2 + 0.15 + 1 + 0.15].map((seconds) => `${seconds * SAMPLES_PER_SECOND} samples`);
  await eventually(() =>
    expect(events).toEqual([
      { type: "final", text: first },
      { type: "finalized" },
      { type: "final", text: second },
      { type: "finalized" },
    ] as SpeechEvent[]),
  );
});

test("silence is not sent, except for half a second before the first sound", async () => {
  const { stream, events } = listen({ partialMs: 1 });
  for (let tenths = 0; tenths < 30; tenths++) stream.send(silence(0.1));
  stream.finalize();
  await eventually(() => expect(events).toEqual([{ type: "finalized" }]));
  expect(heard).toEqual([]);
  for (let tenths = 0; tenths < 30; tenths++) stream.send(silence(0.1));
  stream.send(speech(1));
  stream.finalize();
  await eventually(() => expect(events.filter(({ type }) => type === "finalized")).toHaveLength(2));
  expect(heard.at(-1)?.audio.length).toBeWithin(1.4 * SAMPLES_PER_SECOND, 1.61 * SAMPLES_PER_SECOND);
});

test("an utterance that does not end becomes final in parts of thirty seconds", async () => {
  const { stream, events } = listen();
  for (let second = 0; second < 31; second++) {
    stream.send(speech(0.98));
    stream.send(silence(0.02));
  }
  await eventually(() => expect(events).toEqual([{ type: "final", text: `${30 * SAMPLES_PER_SECOND} samples` }]));
  stream.finalize();
  await eventually(() => expect(events.at(1)).toMatchObject({ text: `${1.02 * SAMPLES_PER_SECOND} samples` }));
});

test("what is said while an utterance is transcribed belongs to the next one, and both arrive in order", async () => {
  const gate = Promise.withResolvers<void>();
  answer = async ({ audio }) => {
    if (audio.length === SAMPLES_PER_SECOND) await gate.promise;
    return Response.json({ text: `${audio.length}` });
  };
  const { stream, events } = listen();
  stream.send(speech(1));
  stream.finalize();
  stream.send(speech(2));
  stream.finalize();
  await eventually(() => expect(heard.length).toBeGreaterThan(0));
  gate.resolve();
  await eventually(() => expect(events).toHaveLength(4));
  expect(events.flatMap((event) => (event.type === "final" ? event.text : []))).toEqual(["16000", "32000"]);
});

test("a lost request is repeated", async () => {
  const replies = [new Response("busy", { status: 503 }), new Response("{"), Response.json({ words: "none" })];
  answer = () => replies.shift() ?? Response.json({ text: "hello" });
  const { stream, events } = listen();
  stream.send(speech(1));
  stream.finalize();
  await eventually(() => expect(events).toEqual([{ type: "final", text: "hello" }, { type: "finalized" }]));
  expect(heard).toHaveLength(4);
});

test("a server that is down for longer than audio is kept ends it", async () => {
  answer = () => new Response("busy", { status: 503 });
  const { stream, events } = listen({ keepMs: 5 });
  stream.send(speech(1));
  stream.finalize();
  await eventually(() => expect(events).toMatchObject([{ type: "failed", error: { kind: "upstream_failed" } }]));
});

test("a key that is refused ends it with the field that holds the key", async () => {
  answer = () => new Response("no", { status: 401 });
  const { stream, events } = listen();
  stream.send(speech(1));
  stream.finalize();
  await eventually(() =>
    expect(events).toMatchObject([
      { type: "failed", error: { detail: "CUSTOM_STT refused the key in stt.params.api_key (401): check it" } },
    ]),
  );
});

test("a forbidden address ends it, and nothing is sent", async () => {
  const { stream, events } = listen({}, "http://169.254.169.254/v1");
  stream.send(speech(1));
  stream.finalize();
  await eventually(() => expect(events).toMatchObject([{ type: "failed", error: { kind: "upstream_failed" } }]));
  expect(JSON.stringify(events)).toContain("169.254.169.254");
});

test.each(["abort", "close"])("%s ends the request, and nothing is reported afterwards", async (how) => {
  const gone = Promise.withResolvers<void>();
  server.onRequest = (request) => {
    request.signal.addEventListener("abort", () => gone.resolve());
    return new Promise<Response>(() => {});
  };
  const { stream, events } = listen();
  stream.send(speech(1));
  stream.finalize();
  await eventually(() => expect(server.requests).toHaveLength(1));
  if (how === "abort") call.abort();
  else stream.close();
  await gone.promise;
  stream.send(speech(1));
  stream.finalize();
  expect(events).toEqual([]);
});
