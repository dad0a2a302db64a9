import type { Attack } from "../attack.ts";
import { again, eachOf, head } from "../hostile/client.ts";

const KEEPS_ALL = { tools: { end_call: true } };
const CHATS = "/v1/public/chat";

/** Attacks that fill the memory of processes that read, send or store an owner's long texts. */
export const MEMORY_ATTACKS: readonly Attack[] = [
  {
    name: "control-characters",
    what: "60 chats answered with 900,000 control characters each, whose webhook hangs",
    tier: "enterprise",
    async prepare(hostile) {
      const agentId = await hostile.createAgent(hostile.model("control-characters"), KEEPS_ALL);
      await hostile.createDestination(hostile.hook("hangs"));
      const chat = { agent_id: agentId, message: "Hi", streaming: false };
      return () => eachOf(Array.from({ length: 60 }), 8, () => hostile.request("POST", CHATS, chat));
    },
  },
  {
    name: "unread-conversation",
    what: "100 GETs of a conversation of 4 MiB by clients that read nothing",
    tier: "free",
    async prepare(hostile) {
      const id = await longConversation(hostile);
      return () => hostile.hold(100, (socket) => socket.write(head(hostile, "GET", `/v1/public/conversations/${id}`)));
    },
  },
  {
    name: "unread-lists",
    what: "100 GETs of a page of 12 MiB by clients that read nothing",
    tier: "enterprise",
    async prepare(hostile) {
      await eachOf([1, 2, 3], 3, () => longConversation(hostile));
      const path = "/v1/public/conversations?page_size=100";
      return () => hostile.hold(100, (socket) => socket.write(head(hostile, "GET", path)));
    },
  },
  {
    name: "unread-streams",
    what: "100 streamed replies of 900,000 characters to clients that read nothing",
    tier: "free",
    async prepare(hostile) {
      const agentId = await hostile.createAgent(hostile.model("long"));
      const body = JSON.stringify({ agent_id: agentId, message: "Hi", streaming: true });
      const json = { "Content-Type": "application/json", "Content-Length": body.length };
      return () => hostile.hold(100, (socket) => socket.write(head(hostile, "POST", CHATS, json) + body));
    },
  },
  {
    name: "prompt-versions",
    what: "all versions of a prompt, 12 of 1 MB, read 16 at a time",
    tier: "enterprise",
    async prepare(hostile) {
      const prompt = { prompt_name: "long", prompt_content: "é".repeat(500_000) };
      for (let version = 1; version <= 12; version++) await hostile.get("POST", "/v1/public/prompts", prompt);
      const paths = ["/v1/public/prompts/long/versions", "/v1/public/prompts?latest_only=false"];
      return () => again(16, (worker) => hostile.request("GET", paths[worker % 2] ?? ""));
    },
  },
];

/** A conversation with as much text as is ever read of one. */
async function longConversation(hostile: Parameters<Attack["prepare"]>[0]): Promise<string> {
  const agentId = await hostile.createAgent(hostile.model("long"));
  let session_id: string | undefined;
  for (let turn = 0; turn < 5; turn++) {
    const said = { agent_id: agentId, message: "Hi", streaming: false, ...(session_id && { session_id }) };
    ({ session_id } = await hostile.get<{ session_id: string }>("POST", CHATS, said));
  }
  return session_id ?? "";
}
