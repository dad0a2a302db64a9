import { describe, expect, test } from "bun:test";
import { BUILT_IN } from "./built-in.ts";
import { type CatalogueFile, readCatalogueFile } from "./file.ts";
import { mergeFile } from "./merge.ts";

const voice = { voice_id: "v1", name: "Ann", gender: "FEMALE", language: "en-IE" } as const;
const withVoice = (given: object) => ({ tts: { CARTESIA: { voices: [{ ...voice, ...given }] } } });
const withPrice = (price: object) => ({ llm: { GROQ: { prices: { "openai/gpt-oss-20b": price } } } });

describe("a catalogue file", () => {
  test.each([
    [[], "it must be an object"],
    [{ tst: {} }, "tst is not known: use updated_at, llm, stt, tts"],
    [{ updated_at: "yesterday" }, "updated_at must be a time, such as 2026-01-31T09:30:00Z"],
    [{ tts: { POLLY: {} } }, "tts.POLLY is not known: use ELEVENLABS, CARTESIA, DEEPGRAM, OPENAI, GOOGLE"],
    [{ stt: { DEEPGRAM: { voices: [] } } }, "stt.DEEPGRAM.voices is not known: use sources, models"],
    [{ stt: { DEEPGRAM: { prices: {} } } }, "stt.DEEPGRAM.prices is not known: use sources, models"],
    [{ llm: { GROQ: { models: "x" } } }, "llm.GROQ.models must be an array"],
    [{ llm: { GROQ: { models: ["x", ""] } } }, "llm.GROQ.models.1 must be the name of a model"],
    [{ tts: { CARTESIA: { voices: [{}] } } }, "tts.CARTESIA.voices.0.voice_id is required"],
    [withPrice({ output: 1 }), "llm.GROQ.prices.openai/gpt-oss-20b.input is required"],
    [
      withPrice({ input: -1, output: 1 }),
      "llm.GROQ.prices.openai/gpt-oss-20b.input must be 0 to 10000, the US dollars per million input tokens",
    ],
    [
      withPrice({ input: 1, output: "2" }),
      "llm.GROQ.prices.openai/gpt-oss-20b.output must be 0 to 10000, the US dollars per million output tokens",
    ],
    [
      withPrice({ input: 1, output: 1, input_tokens_max: 0 }),
      "llm.GROQ.prices.openai/gpt-oss-20b.input_tokens_max must be a whole number of tokens, at least 1",
    ],
    [
      withPrice({ input: 1, output: 1, date: "today" }),
      "llm.GROQ.prices.openai/gpt-oss-20b.date must be a day, such as 2026-01-31",
    ],
    [
      withPrice({ input: 1, output: 1, cached: 1 }),
      expect.stringContaining(
        "llm.GROQ.prices.openai/gpt-oss-20b.cached is not known: use input, output, cached_input",
      ),
    ],
    [withVoice({ gender: "female" }), "tts.CARTESIA.voices.0.gender must be one of MALE, FEMALE, NEUTRAL"],
    [withVoice({ language: "english" }), null],
    [withVoice({ language: "en_IE" }), "tts.CARTESIA.voices.0.language must be a BCP 47 tag, such as en or en-US"],
    [withVoice({ preview_url: "ftp://x" }), "tts.CARTESIA.voices.0.preview_url must be an https:// address"],
    [withVoice({ name: "" }), "tts.CARTESIA.voices.0.name must be a text of 1 to 100 characters"],
    [
      withVoice({ accent: "Irish" }),
      expect.stringContaining("tts.CARTESIA.voices.0.accent is not known: use voice_id"),
    ],
  ])("%j is refused where it is wrong, with the fix", (json, message) => {
    const read = () => readCatalogueFile(json);
    if (message === null) expect(read()).toEqual(json as never);
    else expect(read).toThrow(expect.objectContaining({ message }));
  });
});

describe("merging a file over a catalogue", () => {
  const merged = (file: CatalogueFile) => mergeFile(BUILT_IN, file);

  test("adds models at the end and leaves every other provider unchanged", () => {
    const { llm, stt, tts, voices } = merged({ llm: { GROQ: { models: ["house-model", "openai/gpt-oss-20b"] } } });
    expect(llm).toEqual({ ...BUILT_IN.llm, GROQ: [...(BUILT_IN.llm.GROQ ?? []), "house-model"] });
    expect({ stt, tts, voices }).toEqual({ stt: BUILT_IN.stt, tts: BUILT_IN.tts, voices: BUILT_IN.voices });
  });

  test("replaces the price of a model, prices one that it adds, and leaves every other price unchanged", () => {
    const file: CatalogueFile = {
      updated_at: "2026-10-01T00:00:00Z",
      llm: {
        GROQ: {
          models: ["house-model"],
          prices: {
            "openai/gpt-oss-20b": { input: 0.05, output: 0.2, source: "our contract", date: "2026-09-30" },
            "house-model": { input: 0, output: 0, cached_input: 0, cache_write: 0, input_tokens_max: 8_000 },
          },
        },
      },
    };
    const { GROQ, ...others } = merged(file).prices;
    const { GROQ: builtIn, ...unchanged } = BUILT_IN.prices;
    expect(others).toEqual(unchanged);
    expect(GROQ).toEqual({
      ...builtIn,
      "openai/gpt-oss-20b": { input: 0.05, output: 0.2, source: "our contract", date: "2026-09-30" },
      "house-model": {
        input: 0,
        output: 0,
        cachedInput: 0,
        cacheWrite: 0,
        inputTokensMax: 8_000,
        source: "PARLEY_CATALOGUE",
        date: "2026-10-01",
      },
    });
  });

  test("refuses the price of an unknown model", () => {
    expect(() => merged({ llm: { GROQ: { prices: { "house-model": { input: 1, output: 1 } } } } })).toThrow(
      "llm.GROQ.prices names house-model: list it in llm.GROQ.models too",
    );
  });

  test("adds a voice in the order of names, and replaces one with a known id", () => {
    const known = BUILT_IN.voices.OPENAI ?? [];
    const voices = merged({
      tts: {
        OPENAI: {
          voices: [
            { ...voice, name: "Aaron" },
            { ...voice, voice_id: "alloy", name: "Zoe" },
          ],
        },
      },
    }).voices.OPENAI;
    expect(voices).toHaveLength(known.length + 1);
    expect(voices?.at(0)).toEqual({
      voiceId: "v1",
      name: "Aaron",
      gender: "FEMALE",
      language: "en-IE",
      previewUrl: null,
      models: null,
    });
    expect(voices?.at(-1)).toMatchObject({ voiceId: "alloy", name: "Zoe" });
  });

  test("accepts a voice of a model that the same file adds, and refuses one of an unknown model", () => {
    const voices = [{ ...voice, models: ["house-voice"] }];
    expect(merged({ tts: { CARTESIA: { models: ["house-voice"], voices } } }).tts.CARTESIA).toContain("house-voice");
    expect(() => merged({ tts: { CARTESIA: { voices } } })).toThrow(
      "tts.CARTESIA.voices.0.models names house-voice: list it in tts.CARTESIA.models too",
    );
  });

  test("refuses a voice that is given twice", () => {
    expect(() => merged({ tts: { CARTESIA: { voices: [voice, voice] } } })).toThrow(
      "tts.CARTESIA.voices.0.voice_id v1 is given twice: give it once",
    );
  });

  test("dates the catalogue by the later of the two", () => {
    expect(merged({ updated_at: "2099-01-01T00:00:00Z" }).updatedAt).toEqual(new Date("2099-01-01T00:00:00Z"));
    expect(merged({ updated_at: "2001-01-01T00:00:00Z" }).updatedAt).toEqual(BUILT_IN.updatedAt);
  });
});
