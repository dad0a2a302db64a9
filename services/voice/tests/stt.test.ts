import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { FRAME_SAMPLES, type Pcm, SAMPLES_PER_SECOND } from "../src/audio/pcm.ts";
import type { Times } from "../src/speech/access.ts";
import { selectSpeechToText } from "../src/speech/providers.ts";
import type { SpeechEvent, SpeechStream } from "../src/speech/stt.ts";
import { type SpeechServer, samplesIn, startSpeechServer } from "./speech-server.ts";

/** What a provider says, message by message as in its documentation. */
interface Provider {
  providerName: string;
  modelName: string;
  key: string;
  address: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  finalize: object;
  partial(text: string): object;
  /** The last words of a turn, for audio that ends then. */
  final(text: string, endSeconds: number): object;
  endsTurns: boolean;
  /** The end of the connection for a permanent reason. */
  error(server: SpeechServer): void;
  malformed: (object | string)[];
}

const alternatives = (transcript: string) => ({ alternatives: [{ transcript, confidence: 0.9, words: [] }] });
const results = (text: string, more: object) => ({
  type: "Results",
  channel_index: [0, 1],
  channel: alternatives(text),
  metadata: { request_id: "r", model_uuid: "m", model_info: { name: "n", version: "v", arch: "a" } },
  ...more,
});
const turnInfo = (event: string, transcript: string, end: number) => ({
  type: "TurnInfo",
  request_id: "r",
  sequence_id: 1,
  event,
  turn_index: 0,
  audio_window_start: 0,
  audio_window_end: end,
  transcript,
  words: [],
  end_of_turn_confidence: 0.5,
});
const turn = (transcript: string, words: object[], end_of_turn: boolean) => ({
  type: "Turn",
  turn_order: 0,
  turn_is_formatted: false,
  end_of_turn,
  transcript,
  end_of_turn_confidence: 0.5,
  words,
});
const word = (text: string, end: number, word_is_final: boolean) => ({
  text,
  start: 0,
  end,
  confidence: 1,
  word_is_final,
});

const PROVIDERS: Record<string, Provider> = {
  "Deepgram Nova": {
    providerName: "DEEPGRAM",
    modelName: "nova-3",
    key: "DEEPGRAM_API_KEY",
    address: "DEEPGRAM_BASE_URL",
    path: "/v1/listen",
    query: { model: "nova-3", language: "en-US", encoding: "linear16", sample_rate: "16000", interim_results: "true" },
    headers: { authorization: "Token the-key" },
    finalize: { type: "Finalize" },
    partial: (text) => results(text, { start: 0, duration: 0.5, is_final: false, speech_final: false }),
    final: (text, end) => results(text, { start: 0, duration: end, is_final: true, from_finalize: true }),
    endsTurns: false,
    error: (server) => server.last().close(1008, "DATA-0000"),
    malformed: [
      "not JSON",
      "[]",
      "null",
      { type: "Results" },
      { type: "Results", channel: { alternatives: [3] }, is_final: true, start: "soon" },
      { type: "Results", channel: { alternatives: [{ transcript: 5 }] } },
      { type: "SpeechStarted", channel: [0], timestamp: 1 },
    ],
  },
  "Deepgram Flux": {
    providerName: "DEEPGRAM",
    modelName: "flux-general-multi",
    key: "DEEPGRAM_API_KEY",
    address: "DEEPGRAM_BASE_URL",
    path: "/v2/listen",
    query: { model: "flux-general-multi", language_hint: "en", encoding: "linear16", sample_rate: "16000" },
    headers: { authorization: "Token the-key" },
    finalize: { type: "ForceEndTurn" },
    partial: (text) => turnInfo("Update", text, 0.5),
    final: (text, end) => turnInfo("EndOfTurn", text, end),
    endsTurns: true,
    error: (server) => server.last().send({ type: "Error", sequence_id: 1, code: "INTERNAL", description: "Secret" }),
    malformed: [
      "{",
      "[]",
      { type: "TurnInfo" },
      { type: "TurnInfo", event: "Update", transcript: 4, audio_window_end: "x" },
      { type: "Connected", request_id: "r", sequence_id: 0 },
      turnInfo("SomethingNew", "", 0),
    ],
  },
  AssemblyAI: {
    providerName: "ASSEMBLYAI",
    modelName: "universal-streaming-english",
    key: "ASSEMBLYAI_API_KEY",
    address: "ASSEMBLYAI_BASE_URL",
    path: "/v3/ws",
    query: { speech_model: "universal-streaming-english", encoding: "pcm_s16le", sample_rate: "16000" },
    headers: { authorization: "the-key" },
    finalize: { type: "ForceEndpoint" },
    partial: (text) =>
      turn(
        text.split(" ").slice(0, -1).join(" "),
        text.split(" ").map((spoken) => word(spoken, 500, false)),
        false,
      ),
    final: (text, end) =>
      turn(
        text,
        text.split(" ").map((spoken) => word(spoken, end * 1_000, true)),
        true,
      ),
    endsTurns: true,
    error: (server) => server.last().send({ error: "Secret" }),
    malformed: [
      "no",
      "3",
      { type: "Turn" },
      { type: "Turn", words: "none", transcript: null },
      { type: "Begin", id: "s", expires_at: 1 },
      { type: "SpeechStarted", timestamp: 4 },
    ],
  },
};

/** Long enough that nothing times out on a slow machine. */
const TIMES: Partial<Times> = { retryMs: 1, connectMs: 20_000, finalizeMs: 20_000 };

let server: SpeechServer;
let calls: AbortController;
let streams: SpeechStream[];
beforeEach(() => {
  server = startSpeechServer();
  calls = new AbortController();
  streams = [];
});
afterEach(async () => {
  calls.abort();
  await server.stop();
});

describe.each(Object.entries(PROVIDERS))("%s", (_, provider) => {
  function listen(times: Partial<Times> = TIMES) {
    const variables = { [provider.key]: "the-key", [provider.address]: `${server.url}/` };
    const stt = selectSpeechToText({ ...provider, endpoint: undefined }, { variables, guardedFetch: fetch, times });
    const events: SpeechEvent[] = [];
    const options = { model: provider.modelName, language: "en-US", params: {}, signal: calls.signal };
    const stream = stt.listen(options, (event) => events.push(event));
    streams.push(stream);
    return { stt, stream, events };
  }
  const connected = (count = 1) =>
    eventually(() => {
      expect(server.connections.length).toBeGreaterThanOrEqual(count);
      return server.last();
    });
  const received = (count: number) =>
    eventually(() => {
      const samples = samplesIn(server.last().bytes);
      expect(samples.length).toBeGreaterThanOrEqual(count);
      return samples;
    });

  test("opens the documented address with its key and the agent's model and language", async () => {
    const { stt } = listen();
    const { url, headers } = await connected();
    expect(url.pathname).toBe(provider.path);
    expect(Object.fromEntries(url.searchParams)).toMatchObject(provider.query);
    expect(Object.fromEntries(headers.entries())).toMatchObject(provider.headers);
    expect(stt.endsTurns).toBe(provider.endsTurns);
  });

  test("hears what the user says, sample by sample", async () => {
    const { stream } = listen();
    for (const frame of frames(ramp(SAMPLES_PER_SECOND))) stream.send(frame);
    stream.finalize();
    expect(await received(SAMPLES_PER_SECOND)).toEqual([...ramp(SAMPLES_PER_SECOND)]);
    if (provider.providerName === "ASSEMBLYAI")
      expect(Math.min(...server.last().lengths.slice(0, -1))).toBeGreaterThanOrEqual(0.05 * SAMPLES_PER_SECOND * 2);
  });

  test("reports the words so far, then the final ones, and the end of the turn if it knows it", async () => {
    const { events } = listen();
    const connection = await connected();
    connection.send(provider.partial("what is"));
    connection.send(provider.partial("what is the"));
    connection.send(provider.final("What is the time?", 1));
    const expected: SpeechEvent[] = [
      { type: "partial", text: "what is" },
      { type: "partial", text: "what is the" },
      { type: "final", text: "What is the time?" },
      ...(provider.endsTurns ? [{ type: "end_of_turn" } as const] : []),
    ];
    await eventually(() => expect(events).toEqual(expected));
  });

  test("answers finalize once, after the final words", async () => {
    const { stream, events } = listen();
    stream.send(ramp(SAMPLES_PER_SECOND));
    const connection = await connected();
    stream.finalize();
    await eventually(() => expect(connection.messages).toContainEqual({ ...provider.finalize }));
    expect(samplesIn(connection.bytes)).toHaveLength(SAMPLES_PER_SECOND);
    connection.send(provider.final("Yes.", 1));
    connection.send(provider.final("Yes.", 1));
    await eventually(() => expect(events.filter(({ type }) => type === "final")).toHaveLength(2));
    expect(events.filter(({ type }) => type === "finalized")).toHaveLength(1);
    expect(events[0]).toEqual({ type: "final", text: "Yes." });
  });

  test("answers each request to finalize, and several at once only with an answer that covers their audio", async () => {
    const { stream, events } = listen();
    const finalized = () => events.filter(({ type }) => type === "finalized").length;
    const connection = await connected();
    stream.send(ramp(SAMPLES_PER_SECOND));
    stream.finalize();
    stream.send(ramp(SAMPLES_PER_SECOND));
    stream.finalize();
    connection.send(provider.final("I would like to", 1));
    await eventually(() => expect(events).toContainEqual({ type: "final", text: "I would like to" }));
    expect(finalized()).toBe(1);
    connection.send(provider.final("book a table.", 2));
    await eventually(() => expect(finalized()).toBe(2));
    stream.finalize();
    stream.finalize();
    connection.send(provider.final("On Sunday.", 2));
    await eventually(() => expect(finalized()).toBe(4));
  });

  test("answers finalize even when the provider has nothing to say", async () => {
    const { stream, events } = listen({ ...TIMES, finalizeMs: 1 });
    stream.finalize();
    await eventually(() => expect(events).toEqual([{ type: "finalized" }]));
  });

  test("a lost connection is replaced and hears again what had not become final", async () => {
    const { stream, events } = listen();
    const said = ramp(SAMPLES_PER_SECOND);
    for (const frame of frames(said)) stream.send(frame);
    const first = await connected();
    await received(SAMPLES_PER_SECOND - 0.08 * SAMPLES_PER_SECOND);
    first.send(provider.final("Hello.", 0.5));
    await eventually(() => expect(events).toContainEqual({ type: "final", text: "Hello." }));
    first.drop();
    stream.send(said);
    stream.finalize();
    await connected(2);
    const heard = await received(1.5 * SAMPLES_PER_SECOND);
    expect(heard.slice(-1.5 * SAMPLES_PER_SECOND)).toEqual([...said.subarray(SAMPLES_PER_SECOND / 2), ...said]);
    expect(heard.length - 1.5 * SAMPLES_PER_SECOND).toBeLessThan(FRAME_SAMPLES);
    await eventually(() => expect(server.last().messages).toContainEqual({ ...provider.finalize }));
  });

  test("a connection that opens late hears the newest audio that is kept", async () => {
    const gate = Promise.withResolvers<void>();
    server.gate = gate.promise;
    const { stream } = listen({ ...TIMES, keepMs: 2_000 });
    const said = ramp(3 * SAMPLES_PER_SECOND);
    for (const frame of frames(said)) stream.send(frame);
    gate.resolve();
    stream.finalize();
    const heard = await received(1.9 * SAMPLES_PER_SECOND);
    await eventually(() => expect(samplesIn(server.last().bytes).at(-1)).toBe(said.at(-1) as number));
    expect(heard.length).toBeLessThanOrEqual(2 * SAMPLES_PER_SECOND);
  });

  test("a key that is refused ends it with the variable that holds the key", async () => {
    server.refuseWith = 401;
    const { events } = listen();
    await eventually(() => expect(events).toHaveLength(1));
    expect(events[0]).toMatchObject({
      type: "failed",
      error: {
        kind: "upstream_failed",
        detail: `${provider.providerName} refused the key in ${provider.key} (401): check it`,
      },
    });
  });

  test("a provider that is unreachable for longer than audio is kept ends it", async () => {
    server.refuseWith = 503;
    const { events } = listen({ ...TIMES, keepMs: 20 });
    await eventually(() => expect(events).toHaveLength(1));
    expect(events[0]).toMatchObject({ type: "failed", error: { kind: "upstream_failed" } });
  });

  test("an error in the middle ends it and keeps the provider's words to itself", async () => {
    const { stream, events } = listen();
    await connected();
    provider.error(server);
    await eventually(() => expect(events.map(({ type }) => type)).toEqual(["failed"]));
    expect(JSON.stringify(events)).not.toContain("Secret");
    stream.send(ramp(100));
    stream.finalize();
    await eventually(() => expect(server.last().isOpen).toBe(false));
    expect(events).toHaveLength(1);
  });

  test("messages that make no sense are dropped", async () => {
    const { events } = listen();
    const connection = await connected();
    for (const message of provider.malformed) connection.send(message);
    connection.send(new Uint8Array([1, 2, 3]));
    connection.send(provider.partial("still here"));
    await eventually(() => expect(events).toEqual([{ type: "partial", text: "still here" }]));
  });

  test.each(["abort", "close"])("%s ends the connection, and nothing is reported afterwards", async (how) => {
    const { stream, events } = listen();
    const connection = await connected();
    if (how === "abort") calls.abort();
    else stream.close();
    connection.send(provider.partial("too late"));
    await eventually(() => expect(connection.isOpen).toBe(false));
    stream.send(ramp(SAMPLES_PER_SECOND));
    expect(events).toEqual([]);
    expect(server.connections).toHaveLength(1);
  });
});

test("Deepgram opens another connection for another language", async () => {
  const variables = { DEEPGRAM_API_KEY: "the-key", DEEPGRAM_BASE_URL: server.url };
  const config = { providerName: "DEEPGRAM", modelName: "nova-3", endpoint: undefined };
  const stt = selectSpeechToText(config, { variables, guardedFetch: fetch, times: TIMES });
  const stream = stt.listen({ model: "nova-3", language: "en", params: {}, signal: calls.signal }, () => {});
  await eventually(() => server.last());
  stream.setLanguage("de");
  await eventually(() =>
    expect(server.connections.map(({ url }) => url.searchParams.get("language"))).toEqual(["en", "de"]),
  );
});

test.each([
  ["DEEPGRAM", "nova-3", "DEEPGRAM_API_KEY"],
  ["ASSEMBLYAI", "universal-streaming-english", "ASSEMBLYAI_API_KEY"],
])("%s without a key is refused before the call, naming the variable", (providerName, modelName, variable) => {
  const select = () =>
    selectSpeechToText({ providerName, modelName, endpoint: undefined }, { variables: {}, guardedFetch: fetch });
  expect(select).toThrow(
    `The speech-to-text provider ${providerName} is not configured: the operator has to set ${variable}`,
  );
});

test("an unknown provider is refused with a list of the known ones", () => {
  const config = { providerName: "toString", modelName: "m", endpoint: undefined };
  expect(() => selectSpeechToText(config, { variables: {}, guardedFetch: fetch })).toThrow("use DEEPGRAM, ASSEMBLYAI");
});

/** Samples that show their position. */
function ramp(samples: number): Pcm {
  return Int16Array.from({ length: samples }, (_, at) => (at % 20_000) - 10_000);
}

function* frames(audio: Pcm): Generator<Pcm> {
  for (let at = 0; at < audio.length; at += FRAME_SAMPLES) yield audio.subarray(at, at + FRAME_SAMPLES);
}
