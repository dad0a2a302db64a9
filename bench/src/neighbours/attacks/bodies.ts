import type { Attack } from "../attack.ts";
import { again, head } from "../hostile/client.ts";

const CHATS = "/v1/public/chat";
const BODY_BYTES = 900_000;
const TRICKLE_MS = 100;

/** Attacks with requests that are expensive to read. */
export const BODY_ATTACKS: readonly Attack[] = [
  {
    name: "json-nodes",
    what: "10 chats at a time with 900 KB of metadata in many or in deeply nested arrays",
    tier: "free",
    async prepare(hostile) {
      const agentId = await hostile.createAgent(hostile.model("short"));
      const deepest = "[".repeat(30) + "]".repeat(30);
      const bodies = ["[]", deepest].map((item) => {
        const items = Array.from({ length: BODY_BYTES / (item.length + 1) }, () => item).join();
        return `{"agent_id":"${agentId}","message":"Hi","streaming":false,"metadata":{"a":[${items}]}}`;
      });
      return () => again(10, (worker) => hostile.request("POST", CHATS, bodies[worker % 2]));
    },
  },
  {
    name: "trickled-bodies",
    what: "500 bodies of 1 MiB sent byte by byte",
    tier: "enterprise",
    prepare: async (hostile) => () => {
      const json = { "Content-Type": "application/json", "Content-Length": 1024 * 1024 };
      return hostile.hold(500, (socket) => {
        socket.write(`${head(hostile, "POST", CHATS, json)}{`);
        setInterval(() => socket.write(" "), TRICKLE_MS);
      });
    },
  },
  {
    name: "headers",
    what: "headers of 100 KB and addresses of 100 KB, 32 at a time",
    tier: "free",
    prepare: async (hostile) => () => {
      const long = "a".repeat(100_000);
      return again(32, (worker) =>
        worker % 2 === 0
          ? hostile.request("GET", "/v1/public/agents", undefined, { "X-Long": long })
          : hostile.request("GET", `/v1/public/agents/${long}`),
      );
    },
  },
  {
    name: "long-bodies",
    what: "600 chats with bodies of 1 MB, sent together",
    tier: "enterprise",
    async prepare(hostile) {
      const agent_id = await hostile.createAgent(hostile.model("hangs"));
      const chat = { agent_id, message: "Hi", streaming: false, metadata: { text: "t".repeat(BODY_BYTES) } };
      const body = JSON.stringify(chat);
      const json = { "Content-Type": "application/json", "Content-Length": body.length };
      return () => hostile.hold(600, (socket) => socket.write(head(hostile, "POST", CHATS, json) + body));
    },
  },
];
