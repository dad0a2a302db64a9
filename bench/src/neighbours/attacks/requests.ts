import type { Attack } from "../attack.ts";
import { again } from "../hostile/client.ts";

const CHATS = "/v1/public/chat";
const PROMPTS = "/v1/public/prompts";
/** Words in every seeded conversation, so that a search for them finds all. */
const COMMON = ["please tell me about the order", "of course the order is on the way"];

/** Attacks with many requests, each of them allowed. */
export const REQUEST_ATTACKS: readonly Attack[] = [
  {
    name: "searches",
    what: "lists and searches (two common words, one character) of 500 conversations, 16 at a time",
    tier: "enterprise",
    async prepare(hostile) {
      const agentId = await hostile.createAgent(hostile.model("short"));
      const ends = await hostile.startConversations(agentId, 500, COMMON);
      await Promise.all(ends.map((end) => end()));
      const queries = ["page_size=100", "search=the%20order", "search=e", "page=4&page_size=100&search=order"];
      return () => again(16, (_, round) => hostile.request("GET", `/v1/public/conversations?${queries[round % 4]}`));
    },
  },
  {
    name: "idempotency-keys",
    what: "prompts created with an idempotency key each, 32 at a time",
    tier: "enterprise",
    prepare: async (hostile) => () =>
      again(32, () =>
        hostile.request("POST", PROMPTS, { prompt_name: "p", prompt_content: "c" }, { "Idempotency-Key": newKey() }),
      ),
  },
  {
    name: "one-idempotency-key",
    what: "64 chats at a time with one idempotency key and a model that hangs",
    tier: "enterprise",
    async prepare(hostile) {
      const agentId = await hostile.createAgent(hostile.model("hangs"));
      const chat = { agent_id: agentId, message: "Hi", streaming: false };
      const key = { "Idempotency-Key": newKey() };
      return () => again(64, () => hostile.request("POST", CHATS, chat, key));
    },
  },
  {
    name: "open-sessions",
    what: "sessions opened, 32 at a time",
    tier: "enterprise",
    async prepare(hostile) {
      const agentId = await hostile.createAgent(hostile.model("short"));
      return () => again(32, () => hostile.request("GET", `/v1/public/agents/${agentId}/first-message`));
    },
  },
  {
    name: "wrong-keys",
    what: "requests with keys that do not exist, 64 at a time",
    tier: "free",
    prepare: async (hostile) => () =>
      again(64, () =>
        hostile.request("GET", "/v1/public/agents", undefined, { "X-API-Key": `vk_${newKey()}${"0".repeat(11)}` }),
      ),
  },
  {
    name: "sign-ins",
    what: "sign-ins with bodies of 1 MB, 32 at a time",
    tier: "free",
    async prepare(hostile) {
      const padding = "p".repeat(1_000_000);
      return () =>
        again(32, (worker) =>
          hostile.request("POST", "/v1/manage/sign-in", { email: `${worker}@example.com`, password: padding }),
        );
    },
  },
];

function newKey(): string {
  return Bun.randomUUIDv7("hex").replaceAll("-", "");
}
