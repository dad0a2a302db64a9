import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { SAMPLES_PER_SECOND } from "../src/audio/pcm.ts";
import { pcmReader } from "../src/audio/wav.ts";
import type { Times } from "../src/speech/access.ts";
import { selectSpeechToSpeech } from "../src/speech/providers.ts";
import type { SpokenTurnEvent } from "../src/speech/sts.ts";
import { type Connection, type SpeechServer, startSpeechServer } from "./speech-server.ts";
import { type Message, STS_PROVIDERS } from "./sts-providers.ts";

let server: SpeechServer;
let call: AbortController;
beforeEach(() => {
  server = startSpeechServer();
  call = new AbortController();
});
afterEach(async () => {
  call.abort();
  await server.stop();
});

describe.each(Object.entries(STS_PROVIDERS))("%s", (_, provider) => {
  function converse(times: Partial<Times> = { retryMs: 10 }, continues = false) {
    const settings = {
      times,
      variables: { [provider.key]: "the-key", [provider.address]: `${server.url}${provider.base}` },
      guardedFetch: fetch,
    };
    const events: SpokenTurnEvent[] = [];
    const conversation = selectSpeechToSpeech({ ...provider, modelName: "the-model" }, settings).converse(
      {
        model: "the-model",
        voiceId: "marin",
        language: "en-US",
        params: {},
        prompt: "You are Ada.",
        tools: [{ name: "weather", description: "Tells the weather", parameters: { type: "object" } }],
        history: () => [
          { role: "user", text: "Hello?" },
          { role: "assistant", text: "Hi there." },
        ],
        continues,
        signal: call.signal,
      },
      (event) => events.push(event),
    );
    return { conversation, events };
  }
  /** The connection, once the provider is ready. */
  const open = () =>
    eventually(() => {
      const connection = server.last();
      expect(connection.messages.length).toBeGreaterThan(0);
      connection.send(provider.ready);
      return connection;
    });
  const told = (connection: Connection, message: object) =>
    eventually(() => expect(connection.messages).toContainEqual(message as Message));

  test("opens the documented address with its key, the prompt, the voice, the language and the tools", async () => {
    converse();
    const { url, headers, messages } = await open();
    expect(url.pathname).toBe(provider.path);
    if (provider.providerName === "OPENAI") expect(url.searchParams.get("model")).toBe("the-model");
    expect(Object.fromEntries(headers.entries())).toMatchObject(provider.headers);
    expect(messages[0]).toMatchObject(provider.setup);
  });

  test("goes on with a conversation of another model by what was said, before anything else is said", async () => {
    const { conversation } = converse({}, true);
    conversation.say("Hello.");
    const connection = await open();
    await told(connection, provider.greeting);
    expect(connection.messages.slice(1, -1)).toEqual(provider.continued as Message[]);
  });

  test("lets the model know something without an answer", async () => {
    const { conversation } = converse();
    const connection = await open();
    conversation.inform("A VIP.");
    await told(connection, provider.informed);
  });

  test("a muted model answers nothing by itself, or hears nothing, until it may again", async () => {
    const { conversation } = converse();
    const connection = await open();
    const sent = (from: number) =>
      connection.messages.slice(from).map((message) => {
        return provider.audioIn(message) === null ? message : "audio";
      });
    const before = connection.messages.length;
    conversation.mute(true);
    conversation.send(new Int16Array(160));
    conversation.say("Hello.");
    await told(connection, provider.greeting);
    expect(sent(before)).toEqual([...provider.muted, provider.greeting as Message]);
    const after = connection.messages.length;
    conversation.mute(false);
    conversation.send(new Int16Array(160));
    await eventually(() => expect(sent(after)).toEqual([...provider.unmuted, "audio"]));
  });

  test("hears what the user says, even before the conversation is open", async () => {
    const { conversation } = converse();
    const second = new Int16Array(SAMPLES_PER_SECOND).fill(1_000);
    conversation.send(second);
    const connection = await open();
    conversation.send(second);
    const heard = await eventually(() => {
      const read = pcmReader(provider.hearsSamplesPerSecond);
      const pieces = connection.messages.flatMap((message) => provider.audioIn(message) ?? []);
      const samples = pieces.flatMap((piece) => [...read(Buffer.from(piece, "base64"))]);
      expect(samples.length).toBeGreaterThan(1.99 * SAMPLES_PER_SECOND);
      return samples;
    });
    expect(heard.length).toBeLessThan(2.01 * SAMPLES_PER_SECOND);
    expect(heard.slice(100, -100).every((sample) => Math.abs(sample - 1_000) < 5)).toBe(true);
  });

  test("a provider that does not read fills no memory with what the user says", async () => {
    const { conversation, events } = converse();
    const connection = await open();
    connection.send(provider.text("Ready."));
    await eventually(() => expect(events).toHaveLength(1));
    // Nothing is read until this function waits; the system holds some megabytes.
    for (let second = 0; second < 600; second++) conversation.send(new Int16Array(SAMPLES_PER_SECOND));
    conversation.say("Hello.");
    await told(connection, provider.greeting);
    const heard = connection.messages.filter((message) => provider.audioIn(message) !== null);
    expect(heard.length).toBeLessThan(500);
  });

  test("reports a turn in order: the user, what the agent says, its sound, and its end", async () => {
    const { events } = converse();
    const connection = await open();
    const turn = [
      ...provider.userBegan,
      ...provider.userSaid("what time is it"),
      provider.text("It is "),
      provider.audio(new Int16Array(2_400).fill(500)),
      provider.text("noon."),
      ...provider.done,
    ];
    for (const message of turn) connection.send(message);
    await eventually(() => expect(events.at(-1)).toEqual({ type: "done" }));
    expect(events.filter(({ type }) => type !== "audio")).toEqual([
      { type: "user_began" },
      { type: "user_said", text: "what time is it" },
      { type: "text", text: "It is " },
      { type: "text", text: "noon." },
      { type: "done" },
    ]);
    const audio = events.flatMap((event) => (event.type === "audio" ? [...event.audio] : []));
    expect(audio.length).toBeWithin(1_590, 1_601);
    expect(audio.at(-1)).toBe(500);
  });

  test("calls a tool and continues with its result", async () => {
    const { conversation, events } = converse();
    const connection = await open();
    connection.send(provider.toolCall);
    const asked = { type: "tool_call", callId: "c1", name: "weather", arguments: { place: "here" } } as const;
    await eventually(() => expect(events).toEqual([asked]));
    conversation.answer("c1", "sunny", true);
    await told(connection, provider.toolAnswer);
  });

  test("says what it is told to say, even before the conversation is open", async () => {
    const { conversation } = converse();
    conversation.say("Hello.");
    await told(await open(), provider.greeting);
  });

  test("messages that make no sense, or report small errors, are dropped", async () => {
    const { events } = converse();
    const connection = await open();
    for (const message of provider.malformed) connection.send(message);
    connection.send(new Uint8Array([1, 2, 3]));
    connection.send(provider.text("Still here."));
    await eventually(() => expect(events.at(-1)).toEqual({ type: "text", text: "Still here." }));
    expect(events).toHaveLength(1);
  });

  test("an error in the middle ends it, and the provider's words are kept back", async () => {
    const { events } = converse();
    const connection = await open();
    connection.send(provider.text("I "));
    provider.error(connection);
    await eventually(() => expect(events.at(-1)).toMatchObject({ type: "failed", error: { kind: "upstream_failed" } }));
    expect(JSON.stringify(events)).not.toContain("Secret");
    await eventually(() => expect(connection.isOpen).toBe(false));
  });

  test("a lost connection is replaced: the reply is over, and nothing that is said in between is lost", async () => {
    const { conversation, events } = converse();
    const connection = await open();
    for (const message of provider.resumable) connection.send(message);
    connection.send(provider.audio(new Int16Array(2_400).fill(500)));
    await eventually(() => expect(events.at(-1)?.type).toBe("audio"));
    connection.drop();
    await eventually(() => expect(events.at(-1)).toEqual({ type: "done" }));
    conversation.send(new Int16Array(SAMPLES_PER_SECOND).fill(1_000));
    const next = await eventually(() => {
      expect(server.connections).toHaveLength(2);
      const opened = server.last();
      expect(opened.messages.length).toBeGreaterThan(0);
      return opened;
    });
    next.send(provider.ready);
    for (const message of provider.resumes) await told(next, message);
    await eventually(() => expect(next.messages.some((message) => provider.audioIn(message))).toBeTrue());
    next.send(provider.text("As I said."));
    await eventually(() => expect(events.at(-1)).toEqual({ type: "text", text: "As I said." }));
  });

  test("a provider that stays down ends it", async () => {
    const { events } = converse({ keepMs: 50, retryMs: 10 });
    const connection = await open();
    for (const message of provider.resumable) connection.send(message);
    connection.send(provider.text("I "));
    await eventually(() => expect(events).toHaveLength(1));
    server.refuseWith = 503;
    connection.drop();
    const detail = `${provider.providerName} does not work: there has been no connection for too long`;
    await eventually(() => expect(events.at(-1)).toMatchObject({ type: "failed", error: { detail } }));
  });

  test("a key that is refused ends it with the variable that holds the key", async () => {
    server.refuseWith = 403;
    const { events } = converse();
    const detail = `${provider.providerName} refused the key in ${provider.key} (403): check it`;
    await eventually(() => expect(events).toMatchObject([{ type: "failed", error: { detail } }]));
  });

  test.each(["abort", "close"])("%s ends the connection, and nothing is reported afterwards", async (how) => {
    const { conversation, events } = converse();
    const connection = await open();
    if (how === "abort") call.abort();
    else conversation.close();
    connection.send(provider.text("too late"));
    await eventually(() => expect(connection.isOpen).toBe(false));
    conversation.send(new Int16Array(100));
    conversation.say("More.");
    expect(events).toEqual([]);
  });

  test("without a key it is refused before the call, naming the variable", () => {
    const select = () => selectSpeechToSpeech({ ...provider, modelName: "m" }, { variables: {}, guardedFetch: fetch });
    expect(select).toThrow(`is not configured: the operator has to set ${provider.key}`);
  });
});

test("OpenAI's refusal of the agent's settings ends it, and the provider's words are kept back", async () => {
  const variables = { OPENAI_API_KEY: "the-key", OPENAI_BASE_URL: server.url };
  const sts = selectSpeechToSpeech({ providerName: "OPENAI", modelName: "m" }, { variables, guardedFetch: fetch });
  const events: SpokenTurnEvent[] = [];
  sts.converse({ model: "m", params: {}, prompt: "", tools: [], history: () => [], signal: call.signal }, (event) =>
    events.push(event),
  );
  const connection = await eventually(() => server.last());
  connection.send({ type: "session.created", session: {} });
  connection.send({ type: "error", error: { type: "invalid_request_error", message: "Secret" } });
  const detail = "OPENAI does not work: it refused the model, voice or tools of the agent";
  await eventually(() => expect(events).toMatchObject([{ type: "failed", error: { detail } }]));
});

test("OpenAI owes the answer to the user's last words over a new connection too", async () => {
  const settings = {
    variables: { OPENAI_API_KEY: "the-key", OPENAI_BASE_URL: `${server.url}/v1` },
    guardedFetch: fetch,
    times: { retryMs: 5 },
  };
  const history: { role: "user" | "assistant"; text: string }[] = [];
  const events: SpokenTurnEvent[] = [];
  selectSpeechToSpeech({ providerName: "OPENAI", modelName: "m" }, settings).converse(
    { model: "m", params: {}, prompt: "", tools: [], history: () => history, signal: call.signal },
    (event) => events.push(event),
  );
  const next = (connections: number) =>
    eventually(() => {
      expect(server.connections.filter(({ isOpen }) => isOpen)).toHaveLength(1);
      expect(server.connections).toHaveLength(connections);
      const connection = server.last();
      expect(connection.messages.length).toBeGreaterThan(connections > 1 ? history.length : 0);
      return connection;
    });
  const first = await next(1);
  const setUp = async (connection: Connection, seen: number) => {
    connection.send({ type: "session.updated", session: {} });
    connection.send({ type: "response.output_audio_transcript.delta", delta: "ready" });
    await eventually(() => expect(events.filter(({ type }) => type === "text")).toHaveLength(seen));
  };
  await setUp(first, 1);
  first.send({ type: "input_audio_buffer.speech_started", item_id: "u" });
  await eventually(() => expect(events.at(-1)).toEqual({ type: "user_began" }));
  history.push({ role: "user", text: "When do you open?" });
  first.drop();
  const second = await next(2);
  await eventually(() => expect(second.messages.at(-1)).toEqual({ type: "response.create" }));
  await setUp(second, 2);
  second.send({ type: "response.output_audio.delta", item_id: "a", response_id: "r", delta: "AAAA" });
  second.send({ type: "response.done", response: { status: "completed" } });
  await eventually(() => expect(events.at(-1)).toEqual({ type: "done" }));
  second.drop();
  const third = await next(3);
  await setUp(third, 3);
  // The answer is being heard, and another one to the same words would repeat it.
  expect(third.messages.map(({ type }) => type)).toEqual(["session.update", "conversation.item.create"]);
});

test("OpenAI forgets the part of a reply that was not heard", async () => {
  const variables = { OPENAI_API_KEY: "the-key", OPENAI_BASE_URL: server.url };
  const sts = selectSpeechToSpeech({ providerName: "OPENAI", modelName: "m" }, { variables, guardedFetch: fetch });
  const events: SpokenTurnEvent[] = [];
  const options = { model: "m", params: {}, prompt: "", tools: [], history: () => [], signal: call.signal };
  const conversation = sts.converse(options, (event) => events.push(event));
  const connection = await eventually(() => server.last());
  connection.send(STS_PROVIDERS.OpenAI?.audio(new Int16Array(2_400)) ?? {});
  await eventually(() => expect(events).toHaveLength(1));
  conversation.interrupt(1_234.5);
  const cut = { type: "conversation.item.truncate", item_id: "a", content_index: 0, audio_end_ms: 1_234 };
  await eventually(() => expect(connection.messages.slice(-2)).toEqual([{ type: "response.cancel" }, cut]));
  connection.send({ type: "response.done", response: { status: "cancelled" } });
  connection.send(STS_PROVIDERS.OpenAI?.text("Next.") ?? {});
  await eventually(() => expect(events.at(-1)).toEqual({ type: "text", text: "Next." }));
  expect(events.map(({ type }) => type)).toEqual(["audio", "text"]);
});

test("Google is silent from an interruption until its turn ends", async () => {
  const variables = { GOOGLE_API_KEY: "the-key", GOOGLE_BASE_URL: server.url };
  const sts = selectSpeechToSpeech({ providerName: "GOOGLE", modelName: "m" }, { variables, guardedFetch: fetch });
  const events: SpokenTurnEvent[] = [];
  const options = { model: "m", params: {}, prompt: "", tools: [], history: () => [], signal: call.signal };
  const conversation = sts.converse(options, (event) => events.push(event));
  const connection = await eventually(() => server.last());
  const { text = () => ({}), done = [] } = STS_PROVIDERS.Google ?? {};
  connection.send({ setupComplete: {} });
  connection.send(text("One."));
  await eventually(() => expect(events).toHaveLength(1));
  conversation.interrupt(100);
  connection.send(text("Two."));
  for (const message of done) connection.send(message);
  connection.send(text("Three."));
  await eventually(() => expect(events.at(-1)).toEqual({ type: "text", text: "Three." }));
  expect(events).toEqual([
    { type: "text", text: "One." },
    { type: "text", text: "Three." },
  ]);
});

test("Google is let know something only once it has said everything, because a text would end its reply", async () => {
  const variables = { GOOGLE_API_KEY: "the-key", GOOGLE_BASE_URL: server.url };
  const sts = selectSpeechToSpeech({ providerName: "GOOGLE", modelName: "m" }, { variables, guardedFetch: fetch });
  const events: SpokenTurnEvent[] = [];
  const options = { model: "m", params: {}, prompt: "", tools: [], history: () => [], signal: call.signal };
  const conversation = sts.converse(options, (event) => events.push(event));
  const connection = await eventually(() => server.last());
  const { text = () => ({}), done = [], informed } = STS_PROVIDERS.Google ?? {};
  connection.send({ setupComplete: {} });
  connection.send(text("One."));
  await eventually(() => expect(events).toHaveLength(1));
  conversation.inform("A VIP.");
  conversation.ask();
  await eventually(() => expect(connection.messages.at(-1)).toEqual({ clientContent: { turnComplete: true } }));
  expect(connection.messages).not.toContainEqual(informed as Message);
  for (const message of done) connection.send(message);
  await eventually(() => expect(connection.messages.at(-1)).toEqual(informed as Message));
});

test("Google's session continues over a new connection before the old one is ended, and after the reply", async () => {
  const variables = { GOOGLE_API_KEY: "the-key", GOOGLE_BASE_URL: server.url };
  const sts = selectSpeechToSpeech({ providerName: "GOOGLE", modelName: "m" }, { variables, guardedFetch: fetch });
  const events: SpokenTurnEvent[] = [];
  const options = { model: "m", params: {}, prompt: "", tools: [], history: () => [], signal: call.signal };
  sts.converse(options, (event) => events.push(event));
  const connection = await eventually(() => server.last());
  const { text = () => ({}), done = [] } = STS_PROVIDERS.Google ?? {};
  connection.send({ setupComplete: {} });
  connection.send({ sessionResumptionUpdate: { newHandle: "h7", resumable: true } });
  connection.send(text("One."));
  connection.send({ goAway: { timeLeft: "10s" } });
  await eventually(() => expect(events).toHaveLength(1));
  expect(server.connections).toHaveLength(1);
  for (const message of done) connection.send(message);
  const next = await eventually(() => {
    expect(server.connections).toHaveLength(2);
    const opened = server.last();
    expect(opened.messages).toMatchObject([{ setup: { sessionResumption: { handle: "h7" } } }]);
    return opened;
  });
  await eventually(() => expect(connection.isOpen).toBe(false));
  next.send({ setupComplete: {} });
  next.send(text("Two."));
  await eventually(() => expect(events.at(-1)).toEqual({ type: "text", text: "Two." }));
  expect(events.map(({ type }) => type)).toEqual(["text", "done", "text"]);
});

test("OpenAI's audio of a stopped reply is dropped, however late it arrives", async () => {
  const variables = { OPENAI_API_KEY: "the-key", OPENAI_BASE_URL: server.url };
  const sts = selectSpeechToSpeech({ providerName: "OPENAI", modelName: "m" }, { variables, guardedFetch: fetch });
  const events: SpokenTurnEvent[] = [];
  const options = { model: "m", params: {}, prompt: "", tools: [], history: () => [], signal: call.signal };
  const conversation = sts.converse(options, (event) => events.push(event));
  const connection = await eventually(() => server.last());
  const audio = { ...STS_PROVIDERS.OpenAI?.audio(new Int16Array(2_400)), response_id: "r1" };
  connection.send(audio);
  await eventually(() => expect(events).toHaveLength(1));
  conversation.interrupt(50);
  connection.send(audio);
  connection.send({ ...STS_PROVIDERS.OpenAI?.text("late"), response_id: "r1" });
  connection.send({ ...STS_PROVIDERS.OpenAI?.text("Next."), response_id: "r2" });
  await eventually(() => expect(events.at(-1)).toEqual({ type: "text", text: "Next." }));
  expect(events.map(({ type }) => type)).toEqual(["audio", "text"]);
});
