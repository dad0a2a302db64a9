import { describe, expect, test } from "bun:test";
import type { Voice } from "./catalogue.ts";
import { findVoices, type VoiceFilter } from "./find-voices.ts";

const voice = (voiceId: string, given: Partial<Voice>): Voice => ({
  voiceId,
  name: voiceId,
  gender: "FEMALE",
  language: "en",
  previewUrl: null,
  models: null,
  ...given,
});
const VOICES = [
  voice("any", { name: "Ann - Support" }),
  voice("us", { name: "Bo", gender: "MALE", language: "en-US", models: ["m1"] }),
  voice("gb", { name: "Cy", gender: "NEUTRAL", language: "en-GB", models: ["m1", "m2"] }),
  voice("eno", { name: "Di", language: "eno" }),
];
const NONE: VoiceFilter = { language: "", gender: null, search: "", modelName: "" };

describe("finding voices", () => {
  test.each([
    [{}, ["any", "us", "gb", "eno"]],
    [{ language: "en" }, ["any", "us", "gb"]],
    [{ language: "EN-us" }, ["us"]],
    [{ language: "en-U" }, []],
    [{ gender: "NEUTRAL" }, ["gb"]],
    [{ search: "SUPP" }, ["any"]],
    [{ search: "%" }, []],
    [{ modelName: "m2" }, ["any", "gb", "eno"]],
    [{ modelName: "m1", language: "en", gender: "MALE", search: "b" }, ["us"]],
  ] as const)("%j finds %j, in their order", (given, ids) => {
    expect(findVoices(VOICES, { ...NONE, ...given }).map(({ voiceId }) => voiceId)).toEqual([...ids]);
  });
});
