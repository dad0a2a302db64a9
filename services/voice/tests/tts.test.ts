import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { parseAllowList } from "@parley/shared/egress/allow-list";
import { createEgress, type Egress } from "@parley/shared/egress/egress";
import { eventually } from "@parley/testkit/eventually";
import type { Times } from "../src/speech/access.ts";
import { selectTextToSpeech } from "../src/speech/providers.ts";
import type { SpokenEvent } from "../src/speech/tts.ts";
import { type SpeechServer, startSpeechServer } from "./speech-server.ts";
import { TTS_PROVIDERS, textOf } from "./tts-providers.ts";

const PIECES = ["Hello there. ", "How are you today?"] as const;
const TEXT = PIECES.join("");
/** Long enough that nothing times out on a slow machine. */
const TIMES: Partial<Times> = { retryMs: 1, connectMs: 20_000, stallMs: 20_000 };

let server: SpeechServer;
let egress: Egress;
let reply: AbortController;
beforeEach(() => {
  server = startSpeechServer();
  egress = createEgress({ allow: parseAllowList(new URL(server.url).host) });
  reply = new AbortController();
});
afterEach(async () => {
  reply.abort();
  egress.close();
  await server.stop();
});

describe.each(Object.entries(TTS_PROVIDERS))("%s", (_, provider) => {
  const { config, expected } = provider;

  function speak(times: Partial<Times> = TIMES) {
    const settings = {
      variables: { [provider.key]: "the-key", [provider.address]: server.url },
      guardedFetch: egress.fetch,
      times,
    };
    const endpoint = config.providerName === "CUSTOM_TTS" ? { baseUrl: server.url, apiKey: "the-key" } : undefined;
    const tts = selectTextToSpeech({ ...config, endpoint }, settings);
    const events: SpokenEvent[] = [];
    const options = {
      model: config.modelName,
      voiceId: config.voiceId,
      language: "en-US",
      speed: 1.1,
      params: {},
      signal: reply.signal,
    };
    return { events, spoken: tts.speak(options, (event) => events.push(event)) };
  }
  const heard = (events: SpokenEvent[]) => {
    const samples = events.flatMap((event) => (event.type === "audio" ? [...event.audio] : []));
    return textOf(Int16Array.from(samples)).trimEnd();
  };
  const ended = (events: SpokenEvent[]) =>
    eventually(() => expect(["done", "failed"]).toContain(events.at(-1)?.type as string));

  test("asks at the documented address with its key, voice, language and speed", async () => {
    provider.play(server, "none");
    const { spoken } = speak();
    spoken.say(PIECES[0]);
    spoken.end();
    const first = await eventually(async () => {
      const [request] = server.requests;
      if (request) return { url: new URL(request.url), headers: request.headers, body: await request.clone().json() };
      const { url, headers, messages } = server.last();
      expect(messages.length).toBeGreaterThan(0);
      return { url, headers, body: messages[0] };
    });
    expect(first.url.pathname).toBe(expected.path);
    expect(Object.fromEntries(first.url.searchParams)).toMatchObject(expected.query ?? {});
    expect(Object.fromEntries(first.headers.entries())).toMatchObject(expected.headers);
    expect(first.body).toMatchObject(expected.body ?? {});
  });

  test("speaks all pieces in order and says when it is done", async () => {
    provider.play(server, "none");
    const { events, spoken } = speak();
    spoken.say(PIECES[0]);
    await eventually(() => expect(heard(events)).toBe(PIECES[0].trim()));
    spoken.say(PIECES[1]);
    spoken.end();
    await ended(events);
    expect(heard(events)).toBe(TEXT);
    expect(events.filter(({ type }) => type === "done")).toHaveLength(1);
  });

  test("says nothing, and is done, without any text", async () => {
    provider.play(server, "none");
    const { events, spoken } = speak();
    spoken.end();
    await eventually(() => expect(events).toEqual([{ type: "done" }]));
  });

  test("reports when words are spoken if the provider does, in the text as it was given", async () => {
    provider.play(server, "none");
    const { events, spoken } = speak();
    for (const piece of PIECES) spoken.say(piece);
    spoken.end();
    await ended(events);
    const timings = events.flatMap((event) => (event.type === "timing" ? [event] : []));
    expect(timings.map(({ text }) => text).join("")).toBe(provider.timings ? TEXT : "");
    let characters = 0;
    for (const { text, endMs } of timings) {
      characters += text.length;
      expect(endMs / 10).toBeCloseTo(characters, 5);
    }
  });

  test.each(["lost", "stalled"] as const)("continues where it was after a connection that is %s", async (fault) => {
    provider.play(server, fault);
    const { events, spoken } = speak({ ...TIMES, stallMs: fault === "stalled" ? 500 : 20_000 });
    for (const piece of PIECES) spoken.say(piece);
    spoken.end();
    await ended(events);
    expect(heard(events)).toBe(TEXT);
    expect(events.at(-1)).toEqual({ type: "done" });
  });

  test("continues after an error in the middle, and keeps the provider's words to itself", async () => {
    provider.play(server, "error");
    const { events, spoken } = speak();
    for (const piece of PIECES) spoken.say(piece);
    spoken.end();
    await ended(events);
    expect([heard(events), events.at(-1)]).toEqual([TEXT, { type: "done" }]);
    expect(JSON.stringify(events)).not.toContain("Secret");
  });

  test("a provider that fails again and again ends the reply", async () => {
    server.refuseWith = 503;
    const { events, spoken } = speak();
    spoken.say(TEXT);
    spoken.end();
    await ended(events);
    expect(events).toMatchObject([{ type: "failed", error: { kind: "upstream_failed" } }]);
  });

  test("a refused key ends the reply immediately and names what holds the key", async () => {
    server.refuseWith = 401;
    const { events, spoken } = speak();
    spoken.say(TEXT);
    await ended(events);
    const holder = provider.key || "tts.params.api_key";
    const detail = `${config.providerName} refused the key in ${holder} (401): check it`;
    expect(events).toMatchObject([{ type: "failed", error: { kind: "upstream_failed", detail } }]);
  });

  test("messages that make no sense are dropped, or requested again", async () => {
    provider.play(server, "malformed");
    const { events, spoken } = speak();
    for (const piece of PIECES) spoken.say(piece);
    spoken.end();
    await ended(events);
    // With an empty stream of samples, a piece has no sound.
    const isBare = ["OPENAI", "ELEVENLABS"].includes(config.providerName) && server.connections.length === 0;
    const text = isBare ? PIECES[0].trim() : TEXT;
    expect([heard(events), events.at(-1)]).toEqual([text, { type: "done" }]);
  });

  test("an interruption ends the request, and nothing is reported afterwards", async () => {
    provider.play(server, "stalled");
    const gone = Promise.withResolvers<void>();
    const answer = server.onRequest;
    server.onRequest = (request) => {
      if (server.requests.length === 2) request.signal.addEventListener("abort", () => gone.resolve());
      return answer(request);
    };
    const { events, spoken } = speak();
    for (const piece of PIECES) spoken.say(piece);
    await eventually(() => expect(heard(events).length).toBeGreaterThan(PIECES[0].trim().length - 1));
    if (server.requests.length > 0) await eventually(() => expect(server.requests).toHaveLength(2));
    const before = events.length;
    reply.abort();
    if (server.requests.length > 0) await gone.promise;
    else await eventually(() => expect(server.last().isOpen).toBe(false));
    spoken.say("More.");
    spoken.end();
    expect(events).toHaveLength(before);
  });
});

test.each([
  ["ELEVENLABS", "ELEVENLABS_API_KEY"],
  ["CARTESIA", "CARTESIA_API_KEY"],
  ["DEEPGRAM", "DEEPGRAM_API_KEY"],
  ["OPENAI", "OPENAI_API_KEY"],
  ["GOOGLE", "GOOGLE_API_KEY"],
])("%s without a key is refused before the call, naming the variable", (providerName, variable) => {
  const config = { providerName, modelName: undefined, endpoint: undefined };
  expect(() => selectTextToSpeech(config, { variables: {}, guardedFetch: fetch })).toThrow(
    `The text-to-speech provider ${providerName} is not configured: the operator has to set ${variable}`,
  );
});

test("an owner's forbidden address ends the reply, and nothing is sent", async () => {
  const endpoint = { baseUrl: "http://169.254.169.254/v1", apiKey: undefined };
  const settings = { variables: {}, guardedFetch: egress.fetch, times: TIMES };
  const tts = selectTextToSpeech({ providerName: "CUSTOM_TTS", modelName: undefined, endpoint }, settings);
  const events: SpokenEvent[] = [];
  tts.speak({ voiceId: "v", params: {}, signal: reply.signal }, (event) => events.push(event)).say(TEXT);
  await eventually(() => expect(events).toMatchObject([{ type: "failed" }]));
  expect(JSON.stringify(events)).toContain("169.254.169.254");
});
