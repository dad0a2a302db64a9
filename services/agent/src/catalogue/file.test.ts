import { describe, expect, test } from "bun:test";
import { BUILT_IN } from "./built-in.ts";
import { type CatalogueFile, readCatalogueFile } from "./file.ts";
import { mergeFile } from "./merge.ts";

const voice = { voice_id: "v1", name: "Ann", gender: "FEMALE", language: "en-IE" } as const;
const withVoice = (given: object) => ({ tts: { CARTESIA: { voices: [{ ...voice, ...given }] } } });

describe("a catalogue file", () => {
  test.each([
    [[], "it must be an object"],
    [{ tst: {} }, "tst is not known: use updated_at, llm, stt, tts"],
    [{ updated_at: "yesterday" }, "updated_at must be a time, such as 2026-01-31T09:30:00Z"],
    [{ tts: { POLLY: {} } }, "tts.POLLY is not known: use ELEVENLABS, CARTESIA, DEEPGRAM, OPENAI, GOOGLE"],
    [{ stt: { DEEPGRAM: { voices: [] } } }, "stt.DEEPGRAM.voices is not known: use sources, models"],
    [{ llm: { GROQ: { models: "x" } } }, "llm.GROQ.models must be an array"],
    [{ llm: { GROQ: { models: ["x", ""] } } }, "llm.GROQ.models.1 must be the name of a model"],
    [{ tts: { CARTESIA: { voices: [{}] } } }, "tts.CARTESIA.voices.0.voice_id is required"],
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
