import type { Socket } from "node:net";
import type { Attack } from "./attack.ts";
import { again, eachOf, type Hostile, head } from "./hostile/client.ts";

const CHATS = "/v1/public/chat";
const BODY_BYTES = 900_000;
const LEAVE_MS = 3_000;
/** Words in every seeded conversation, so that a search for them finds all. */
const COMMON = ["please tell me about the order", "of course the order is on the way"];
const BEHAVIORS = ["hangs", "redirects", "huge"];
const DESTINATIONS = 20;
const ENDS_AT_ONCE = 128;

const NOTHING: Attack = {
  name: "nothing",
  what: "no request, for comparison",
  tier: "free",
  isControl: true,
  prepare: async () => async () => {},
};

/** Requests of long texts, many small ones, slow readers, failing webhooks, and what fills memory: the two worst of each kind. */
export const ATTACKS: readonly Attack[] = [
  NOTHING,
  {
    name: "long-bodies",
    what: "600 chats with bodies of 1 MB, sent together",
    tier: "enterprise",
    async prepare(hostile) {
      const agent_id = await hostile.createAgent(hostile.model("hangs"));
      const body = { agent_id, message: "Hi", streaming: false, metadata: { text: "t".repeat(BODY_BYTES) } };
      return () => hostile.hold(600, (socket) => socket.write(chat(hostile, body)));
    },
  },
  {
    name: "prompt-versions",
    what: "all versions of a prompt, three of 1 MB, read 16 at a time",
    tier: "enterprise",
    async prepare(hostile) {
      const prompt = { prompt_name: "long", prompt_content: "é".repeat(500_000) };
      for (let version = 1; version <= 3; version++) await hostile.get("POST", "/v1/public/prompts", prompt);
      const paths = ["/v1/public/prompts/long/versions", "/v1/public/prompts?latest_only=false"];
      return () => again(16, (worker) => hostile.request("GET", paths[worker % 2] ?? ""));
    },
  },
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
    name: "leaving-streams",
    what: "1,000 streamed chats with a model that says nothing, which their clients leave together every three seconds",
    tier: "enterprise",
    async prepare(hostile) {
      const agent_id = await hostile.createAgent(hostile.model("silent"));
      const request = chat(hostile, { agent_id, message: "Hi", streaming: true });
      return () =>
        again(1, async () => {
          const sockets: Socket[] = [];
          const left = Bun.sleep(LEAVE_MS);
          await hostile.hold(1_000, (socket) => {
            sockets.push(socket);
            socket.write(request);
          });
          await left;
          for (const socket of sockets) socket.destroy();
        });
    },
  },
  {
    name: "bad-destinations",
    what: "500 ended conversations for 20 webhooks that hang, refuse, redirect or answer 100 MB",
    tier: "free",
    async prepare(hostile) {
      const agentId = await hostile.createAgent(hostile.model("short"));
      const urls = [...BEHAVIORS.map(hostile.hook), "http://127.0.0.1:1/"];
      for (let at = 0; at < DESTINATIONS; at++) await hostile.createDestination(urls[at % urls.length] ?? "");
      const ends = await hostile.startConversations(agentId, 500, ["Hi", "Hello"]);
      return () => eachOf(ends, ENDS_AT_ONCE, (end) => end());
    },
  },
  {
    name: "ended-at-once",
    what: "3,000 conversations ended as fast as possible, for one webhook that works",
    tier: "free",
    async prepare(hostile) {
      const agentId = await hostile.createAgent(hostile.model("short"));
      await hostile.createDestination(hostile.hook("works"));
      const ends = await hostile.startConversations(agentId, 3_000);
      return () => eachOf(ends, ENDS_AT_ONCE, (end) => end());
    },
  },
  {
    name: "unread-lists",
    what: "100 GETs of a page of nearly 4 MiB by clients that read nothing",
    tier: "enterprise",
    async prepare(hostile) {
      const agent_id = await hostile.createAgent(hostile.model("long"));
      for (let at = 0; at < 4; at++) await hostile.get("POST", CHATS, { agent_id, message: "Hi", streaming: false });
      const path = "/v1/public/conversations?page_size=100";
      return () => hostile.hold(100, (socket) => socket.write(head(hostile, "GET", path)));
    },
  },
  {
    name: "unread-streams",
    what: "100 streamed replies of 900,000 characters to clients that read nothing",
    tier: "free",
    async prepare(hostile) {
      const agent_id = await hostile.createAgent(hostile.model("long"));
      const request = chat(hostile, { agent_id, message: "Hi", streaming: true });
      return () => hostile.hold(100, (socket) => socket.write(request));
    },
  },
  {
    name: "many-values",
    what: "8 chats at a time with a model of the Responses protocol that answers with 4 MB of numbers",
    tier: "free",
    async prepare(hostile) {
      const params = { base_url: hostile.model("values"), api_key: "any", API_TYPE: "RESPONSES" };
      const llm = { provider_name: "CUSTOM_LLM", model_name: "hostile", params };
      const agent_id = await hostile.createAgent(hostile.model("values"), { llm });
      return () =>
        again(8, (worker) => hostile.request("POST", CHATS, { agent_id, message: "Hi", streaming: worker % 2 === 0 }));
    },
  },
  {
    name: "control-characters",
    what: "60 chats answered with 900,000 control characters each, whose webhook hangs",
    tier: "enterprise",
    async prepare(hostile) {
      const agent_id = await hostile.createAgent(hostile.model("control-characters"), { tools: { end_call: true } });
      await hostile.createDestination(hostile.hook("hangs"));
      const body = { agent_id, message: "Hi", streaming: false };
      return () => eachOf(Array.from({ length: 60 }), 8, () => hostile.request("POST", CHATS, body));
    },
  },
];

/** The bytes of a chat request. */
function chat(hostile: Hostile, body: object): string {
  const json = JSON.stringify(body);
  return head(hostile, "POST", CHATS, { "Content-Type": "application/json", "Content-Length": json.length }) + json;
}
