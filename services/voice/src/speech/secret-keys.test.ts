import { expect, test } from "bun:test";
import { GetSpeechResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { RevealSecrets } from "@parley/shared/domain/secret-keys";
import { serviceErrorOf } from "@parley/testkit/failures";
import { withSecretKeys } from "./secret-keys.ts";

const endpoint = (keySecret: string) => ({ baseUrl: "https://speech.example/v1", keySecret });
const speech = (stt: string, tts: string) =>
  GetSpeechResponse.fromPartial({ stt: { endpoint: endpoint(stt) }, tts: { endpoint: endpoint(tts) } });
const reveal: RevealSecrets = async (ownerId, names) =>
  ownerId === "own_1" && names.includes("speech") ? [{ name: "speech", value: "sk-speech" }] : [];

test("speech servers get the values of the secrets that are their keys, revealed in one question", async () => {
  const asked: (readonly string[])[] = [];
  const counting: RevealSecrets = (ownerId, names) => {
    asked.push(names);
    return reveal(ownerId, names);
  };
  const { stt, tts } = await withSecretKeys(counting, "own_1", speech("speech", "speech"));
  expect([stt?.endpoint?.apiKey, tts?.endpoint?.apiKey]).toEqual(["sk-speech", "sk-speech"]);
  expect(asked).toEqual([["speech"]]);
});

test("speech without secrets asks for none", async () => {
  const given = GetSpeechResponse.fromPartial({
    stt: { endpoint: { baseUrl: "https://a.example", apiKey: "sk-text" } },
  });
  const never: RevealSecrets = () => Promise.reject(new Error("asked"));
  expect(await withSecretKeys(never, "own_1", given)).toEqual(given);
});

test("a speech server whose secret is gone, or another owner's, is not used, and the error names the field and the secret", async () => {
  for (const [ownerId, given, field] of [
    ["own_1", speech("speech", "gone"), "tts.params.api_key cannot be used: the secret gone"],
    ["own_2", speech("speech", "speech"), "stt.params.api_key cannot be used: the secret speech"],
  ] as const)
    expect(await serviceErrorOf(withSecretKeys(reveal, ownerId, given))).toMatchObject({
      kind: "condition",
      detail: expect.stringContaining(`The agent's ${field} does not exist`),
    });
});
