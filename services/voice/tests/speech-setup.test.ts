import { expect, test } from "bun:test";
import { speechSetup } from "../src/speech/providers.ts";

test("the speech setup names each provider, the variable of its key and whether it is set, and no key", () => {
  const setup = speechSetup({ variables: { OPENAI_API_KEY: "sk-secret", DEEPGRAM_API_KEY: "" } });
  expect(setup.stt).toContainEqual({ providerName: "DEEPGRAM", keyVariable: "DEEPGRAM_API_KEY", isReady: false });
  expect(setup.tts).toContainEqual({ providerName: "OPENAI", keyVariable: "OPENAI_API_KEY", isReady: true });
  expect(setup.sts).toContainEqual({ providerName: "OPENAI", keyVariable: "OPENAI_API_KEY", isReady: true });
  expect(JSON.stringify(setup)).not.toContain("secret");
});
