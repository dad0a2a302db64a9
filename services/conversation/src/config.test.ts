import { expect, test } from "bun:test";
import { readConversationConfig } from "./config.ts";

test("the default limits are those that the documentation promises", () => {
  const needed = { DATABASE_URL: "postgres://db" };
  const others = {
    PARLEY_ACCOUNT_ADDRESS: "127.0.0.1:1",
    PARLEY_KNOWLEDGE_ADDRESS: "127.0.0.1:1",
    PARLEY_AGENT_ADDRESS: "127.0.0.1:1",
    PARLEY_WEBHOOK_ADDRESS: "127.0.0.1:2",
    PARLEY_VOICE_ADDRESS: "127.0.0.1:3",
    PARLEY_MESSAGING_ADDRESS: "127.0.0.1:4",
  };
  // The defaults that docs/configuration.md#conversation lists.
  expect(readConversationConfig({ ...needed, ...others })).toMatchObject({
    PARLEY_CHAT_IDLE_MINUTES: 30,
    PARLEY_LLM_DEADLINE_MS: 60_000,
    PARLEY_LLM_STALL_MS: 30_000,
  });
});
