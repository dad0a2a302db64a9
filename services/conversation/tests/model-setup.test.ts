import { expect, test } from "bun:test";
import { readConversationConfig } from "../src/config.ts";
import { getModelSetup } from "../src/rpc/get-model-setup.ts";

const REQUIRED = {
  DATABASE_URL: "postgres://localhost/db",
  PARLEY_LISTEN: "127.0.0.1:1",
  PARLEY_ACCOUNT_ADDRESS: "127.0.0.1:1",
  PARLEY_KNOWLEDGE_ADDRESS: "127.0.0.1:1",
  PARLEY_AGENT_ADDRESS: "localhost:1",
  PARLEY_WEBHOOK_ADDRESS: "localhost:1",
  PARLEY_VOICE_ADDRESS: "localhost:1",
  PARLEY_MESSAGING_ADDRESS: "127.0.0.1:1",
};
const setupWith = (env: Record<string, string>) => {
  const handler = getModelSetup(readConversationConfig({ ...REQUIRED, ...env }));
  return (handler as unknown as () => Promise<object>)();
};

test("the model setup names each provider, the variable of its key and whether it is set, and no key", async () => {
  const setup = await setupWith({ OPENAI_API_KEY: "sk-secret", MISTRAL_API_KEY: "ms-secret" });
  expect(setup).toMatchObject({
    llm: [
      { providerName: "OPENAI", keyVariable: "OPENAI_API_KEY", isReady: true },
      { providerName: "OPENAI_RESPONSES", keyVariable: "OPENAI_API_KEY", isReady: true },
      { providerName: "ANTHROPIC", keyVariable: "ANTHROPIC_API_KEY", isReady: false },
      { providerName: "GOOGLE", isReady: false },
      { providerName: "GROQ", isReady: false },
      { providerName: "MISTRAL", keyVariable: "MISTRAL_API_KEY", isReady: true },
    ],
    defaultLlm: undefined,
  });
  expect(JSON.stringify(setup)).not.toContain("secret");
});

test("the model setup has the model that the operator proposes", async () => {
  const params = { base_url: "http://127.0.0.1:1/v1", api_key: "any" };
  const llm = { provider_name: "CUSTOM_LLM", model_name: "stand-in", params };
  expect(await setupWith({ PARLEY_DEFAULT_LLM: JSON.stringify(llm) })).toMatchObject({
    defaultLlm: {
      providerName: "CUSTOM_LLM",
      modelName: "stand-in",
      params: { baseUrl: "http://127.0.0.1:1/v1", apiKey: "any" },
    },
  });
});

test("a proposed model without a name is refused at the start", () => {
  const start = (text: string) => readConversationConfig({ ...REQUIRED, PARLEY_DEFAULT_LLM: text });
  expect(() => start('{"provider_name": "OPENAI"}')).toThrow("model_name");
  expect(() => start("gpt")).toThrow("PARLEY_DEFAULT_LLM");
});
