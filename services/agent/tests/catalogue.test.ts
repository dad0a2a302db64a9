import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Gender, type Voice } from "@parley/proto/parley/agent/v1/agent.ts";
import { ListVoicesRequest, type ListVoicesResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { WRONG_PAGES } from "@parley/testkit/pages";
import { BUILT_IN } from "../src/catalogue/built-in.ts";
import type { Models } from "../src/catalogue/catalogue.ts";
import { create, creation, customLlm, runtimes, startTestAgents } from "./kit.ts";

const ADDED = {
  updated_at: "2099-01-01T00:00:00.000Z",
  llm: { ANTHROPIC: { models: ["house-model"], prices: { "house-model": { input: 1, output: 2 } } } },
  tts: {
    DEEPGRAM: {
      models: ["house-voice"],
      voices: [{ voice_id: "v", name: "Aa", gender: "NEUTRAL", language: "mi-NZ", models: ["house-voice"] }],
    },
  },
};

const folder = await mkdtemp(join(tmpdir(), "parley-catalogue-"));
await writeFile(join(folder, "catalogue.json"), JSON.stringify(ADDED));
const service = await startTestAgents({ PARLEY_CATALOGUE: join(folder, "catalogue.json") });
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

function list(ownerId: string, given: Partial<ListVoicesRequest>): Promise<ListVoicesResponse> {
  return service.agents.listVoices({ ...ListVoicesRequest.fromPartial({ ownerId, providerName: "OPENAI" }), ...given });
}

function add(ownerId: string, given: Partial<Voice>) {
  const voice = { ...CLONE, ...given };
  return service.agents.addClonedVoice({ ownerId, voice });
}

const CLONE: Voice = {
  voiceId: "clone-1",
  name: "My voice",
  providerName: "OPENAI",
  gender: Gender.GENDER_MALE,
  language: "de-AT",
  previewUrl: "https://example.com/voice.mp3",
};

describe("providers", () => {
  test("are those of the built-in catalogue with the operator's models, and the time of the last change", async () => {
    const { llm, stt, tts, updatedAt } = await service.agents.listProviders({ ownerId: newOwner() });
    const named = (providers: typeof llm): Models =>
      Object.fromEntries(providers.map((provider) => [provider.providerName, provider.modelNames]));
    expect(named(stt)).toEqual(BUILT_IN.stt);
    expect(named(llm)).toEqual({ ...BUILT_IN.llm, ANTHROPIC: [...(BUILT_IN.llm.ANTHROPIC ?? []), "house-model"] });
    expect(named(tts)).toEqual({ ...BUILT_IN.tts, DEEPGRAM: [...(BUILT_IN.tts.DEEPGRAM ?? []), "house-voice"] });
    expect(updatedAt).toEqual(new Date(ADDED.updated_at));
  });

  test("have prices only for those who ask for them, the operator's in place of the built-in ones", async () => {
    const ownerId = newOwner();
    const { llm } = await service.agents.listProviders({ ownerId });
    expect(llm.map(({ prices }) => prices)).toEqual(llm.map(() => ({})));
    const priced = await service.agents.listProviders({ ownerId, withPrices: true });
    const ofProviders = Object.fromEntries(priced.llm.map(({ providerName, prices }) => [providerName, prices]));
    expect(ofProviders).toEqual({
      ...BUILT_IN.prices,
      ANTHROPIC: {
        ...BUILT_IN.prices.ANTHROPIC,
        "house-model": { input: 1, output: 2, source: "PARLEY_CATALOGUE", date: ADDED.updated_at.slice(0, 10) },
      },
    } as typeof ofProviders);
  });

  test("give a conversation the price of each model, an owner's own model the stated one, and show owners only theirs", async () => {
    const price = { input: 0.25, output: 1.5, cachedInput: 0.1, source: "", date: "" };
    const own = { ...customLlm("https://llm.acme.example/v1", "sk-acme-0123456789"), price };
    const named = (modelName: string) => ({
      providerName: "OPENAI",
      modelName,
      params: undefined,
      fallbacks: [],
    });
    const llm = { ...named("gpt-4.1-mini"), fallbacks: [own, named("gpt-6.1-sol")] };
    const agent = await create(service.agents, creation(newOwner(), { llm }));
    expect([agent.llm?.price, ...(agent.llm?.fallbacks.map((each) => each.price) ?? [])]).toEqual([
      undefined,
      price,
      undefined,
    ]);
    const { results } = await runtimes(service.agents, [agent]);
    const used = results[0]?.runtime?.llm;
    expect([used?.price, ...(used?.fallbacks.map((each) => each.price) ?? [])]).toEqual([
      BUILT_IN.prices.OPENAI?.["gpt-4.1-mini"],
      price,
      undefined,
    ] as (typeof price)[]);
  });

  test("do not let an owner set the price of a model that is not the owner's own", async () => {
    const price = { input: 0, output: 0, source: "", date: "" };
    const llm = { providerName: "OPENAI", modelName: "gpt-4.1-mini", params: undefined, fallbacks: [], price };
    expect(await failure(service.agents.createAgent(creation(newOwner(), { llm })))).toMatchObject({
      kind: "invalid",
      detail: "llm.pricing is for CUSTOM_LLM only: leave it out",
    });
  });

  test("include the operator's models, which agents can use", async () => {
    const llm = { providerName: "ANTHROPIC", modelName: "house-model", params: undefined, fallbacks: [] };
    const { agent } = await service.agents.createAgent(creation(newOwner(), { llm }));
    expect(agent?.llm?.modelName).toBe("house-model");
  });
});

test("voices are paged in one order without gaps or repetitions", async () => {
  const ownerId = newOwner();
  const first = await list(ownerId, { providerName: "GOOGLE", page: { number: 1, size: 100 } });
  const numbers = Array.from({ length: Math.ceil(first.total / 100) - 1 }, (_, at) => at + 2);
  const rest = await Promise.all(
    numbers.map((number) => list(ownerId, { providerName: "GOOGLE", page: { number, size: 100 } })),
  );
  const ids = [first, ...rest].flatMap(({ voices }) => voices.map(({ voiceId }) => voiceId));
  expect(ids).toEqual((BUILT_IN.voices.GOOGLE ?? []).map(({ voiceId }) => voiceId));
  expect(await list(ownerId, { providerName: "GOOGLE", page: { number: 10_000_000, size: 100 } })).toEqual({
    voices: [],
    total: first.total,
  });
});

test("voices are 20 per page by default", async () => {
  const { voices } = await list(newOwner(), { providerName: "CARTESIA" });
  expect(voices).toHaveLength(20);
});

test("voices of the operator are available to everybody and match each filter", async () => {
  const house: Voice = {
    voiceId: "v",
    name: "Aa",
    providerName: "DEEPGRAM",
    gender: Gender.GENDER_NEUTRAL,
    language: "mi-NZ",
    previewUrl: undefined,
  };
  const filters: Partial<ListVoicesRequest>[] = [
    { language: "mi" },
    { gender: Gender.GENDER_NEUTRAL },
    { search: "aA" },
    { modelName: "house-voice" },
  ];
  for (const filter of filters) {
    expect(await list(newOwner(), { providerName: "DEEPGRAM", ...filter })).toEqual({ voices: [house], total: 1 });
  }
});

test.each([
  [{ providerName: "" }, "provider must be one of ELEVENLABS, CARTESIA, DEEPGRAM, OPENAI, GOOGLE", "provider"],
  [{ providerName: "POLLY" }, "provider must be one of ELEVENLABS, CARTESIA, DEEPGRAM, OPENAI, GOOGLE", "provider"],
  [
    { modelName: "aura-2" },
    "model must be one of gpt-4o-mini-tts, gpt-4o-mini-tts-2025-12-15, tts-1, tts-1-hd for OPENAI",
    "model",
  ],
])("voices with %j are refused, naming the known ones", async (given, detail, path) => {
  expect(await failure(list(newOwner(), given))).toEqual({ kind: "invalid", detail, paths: [path] });
});

describe("cloned voices", () => {
  test("are shown only to their owner, before the public ones, by name", async () => {
    const [ownerId, other] = [newOwner(), newOwner()];
    expect(await add(ownerId, {})).toEqual({ voice: CLONE });
    await add(ownerId, { voiceId: "clone-2", name: "Another voice" });
    await add(other, { voiceId: "clone-3" });

    const all = await list(ownerId, {});
    const shared = BUILT_IN.voices.OPENAI ?? [];
    expect(all.total).toBe(shared.length + 2);
    expect(all.voices.map(({ voiceId }) => voiceId)).toEqual(["clone-2", "clone-1", ...shared.map((v) => v.voiceId)]);
    expect(all.voices[1]).toEqual(CLONE);
    expect((await list(ownerId, { clonedOnly: true })).voices.map((v) => v.voiceId)).toEqual(["clone-2", "clone-1"]);
    expect((await list(other, { clonedOnly: true })).voices.map((v) => v.voiceId)).toEqual(["clone-3"]);
    expect((await list(ownerId, { clonedOnly: true, providerName: "CARTESIA" })).total).toBe(0);
  });

  test("match the filters and work with every model of their provider", async () => {
    const ownerId = newOwner();
    await add(ownerId, {});
    const total = async (given: Partial<ListVoicesRequest>) =>
      (await list(ownerId, { clonedOnly: true, ...given })).total;
    expect(await total({ language: "de" })).toBe(1);
    expect(await total({ language: "at" })).toBe(0);
    expect(await total({ gender: Gender.GENDER_MALE, search: "MY", modelName: "tts-1" })).toBe(1);
    expect(await total({ gender: Gender.GENDER_FEMALE })).toBe(0);
  });

  test("disappear when removed, and only for their owner", async () => {
    const [ownerId, other] = [newOwner(), newOwner()];
    await add(ownerId, {});
    await add(other, {});
    const key = { ownerId, providerName: "OPENAI", voiceId: "clone-1" };
    const notFound = { kind: "not_found", detail: "Voice not found" };
    expect(await failure(service.agents.removeClonedVoice({ ...key, voiceId: "clone-2" }))).toMatchObject(notFound);
    expect(await failure(service.agents.removeClonedVoice({ ...key, providerName: "GOOGLE" }))).toMatchObject(notFound);
    expect(await service.agents.removeClonedVoice(key)).toEqual({});
    expect(await failure(service.agents.removeClonedVoice(key))).toMatchObject(notFound);
    expect((await list(ownerId, { clonedOnly: true })).total).toBe(0);
    expect((await list(other, { clonedOnly: true })).total).toBe(1);
  });

  test("are added once, however many requests race, and never with the id of a public voice", async () => {
    const ownerId = newOwner();
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => add(ownerId, {})));
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused.map(({ reason }) => reason.detail)).toEqual(
      new Array(7).fill("voice_id clone-1 was added before: remove it first"),
    );
    expect(await failure(add(ownerId, { voiceId: "alloy" }))).toMatchObject({
      kind: "conflict",
      detail: "voice_id alloy is a voice of the catalogue, which every account has",
    });
  });

  test("of one provider are at most 1000", async () => {
    const ownerId = newOwner();
    await service.sql`
      insert into cloned_voices (owner_id, provider_name, voice_id, name, gender, language, created_at)
      select ${ownerId}, 'OPENAI', 'v' || n, 'V', 'MALE', 'en', now() from generate_series(1, 1000) n`;
    expect(await failure(add(ownerId, {}))).toMatchObject({
      kind: "conflict",
      detail: "There are 1000 cloned voices of OPENAI: remove one first",
    });
    await add(ownerId, { providerName: "GOOGLE" });
  });

  test.each<[Partial<Voice>, string, string]>([
    [{ providerName: "POLLY" }, "provider", "ELEVENLABS, CARTESIA, DEEPGRAM, OPENAI, GOOGLE"],
    [{ voiceId: "" }, "voice_id", "1 to 200 characters"],
    [{ voiceId: "v\u0000" }, "voice_id", "printable characters only"],
    [{ name: " " }, "name", "not be blank"],
    [{ name: "x".repeat(101) }, "name", "1 to 100 characters"],
    [{ gender: Gender.GENDER_UNSPECIFIED }, "gender", "MALE, FEMALE, NEUTRAL"],
    [{ language: "" }, "language", "BCP 47"],
    [{ language: "en_US" }, "language", "BCP 47"],
    [{ previewUrl: "http://example.com/a.mp3" }, "preview_url", "https://"],
    [{ previewUrl: "a.mp3" }, "preview_url", "https://"],
  ])("with %j are refused, naming the field and the fix", async (given, path, fix) => {
    expect(await failure(add(newOwner(), given))).toEqual({
      kind: "invalid",
      detail: expect.stringContaining(fix),
      paths: [path],
    });
  });
});

test.each(WRONG_PAGES)(
  "a list of voices refuses page $page.number of size $page.size and names the field",
  async ({ page, field }) => {
    expect(await failure(list(newOwner(), { page }))).toMatchObject({ kind: "invalid", paths: [field] });
  },
);
