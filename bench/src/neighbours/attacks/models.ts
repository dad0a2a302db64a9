import type { Socket } from "node:net";
import type { Attack } from "../attack.ts";
import { again, eachOf, head } from "../hostile/client.ts";
import { STALLED } from "../resolver.ts";

const CHATS = "/v1/public/chat";
const LEAVE_MS = 3_000;
const ANALYSIS = {
  call_analysis_enabled: true,
  call_analysis_prompt: { custom_prompt: "What became of it?" },
  call_analysis_schema: { summary: { type: "str" } },
};

/** Attacks with the owner's own models, which keep Parley waiting. */
export const MODEL_ATTACKS: readonly Attack[] = [
  {
    name: "hanging-analyses",
    what: "100 analyses by a model that hangs",
    tier: "free",
    async prepare(hostile) {
      const agentId = await hostile.createAgent(hostile.model("hangs"), ANALYSIS);
      const ends = await hostile.startConversations(agentId, 100, ["Hi", "Hello"]);
      return () => Promise.all(ends.map((end) => end()));
    },
  },
  {
    name: "silent-streams",
    what: "1,000 streamed chats with a model that says nothing",
    tier: "enterprise",
    async prepare(hostile) {
      const agentId = await hostile.createAgent(hostile.model("silent"));
      const body = JSON.stringify({ agent_id: agentId, message: "Hi", streaming: true });
      const json = { "Content-Type": "application/json", "Content-Length": body.length };
      return () => hostile.hold(1_000, (socket) => socket.write(head(hostile, "POST", CHATS, json) + body));
    },
  },
  {
    name: "leaving-streams",
    what: "1,000 streamed chats with a model that says nothing, which their clients leave together every three seconds",
    tier: "enterprise",
    async prepare(hostile) {
      const agentId = await hostile.createAgent(hostile.model("silent"));
      const body = JSON.stringify({ agent_id: agentId, message: "Hi", streaming: true });
      const json = { "Content-Type": "application/json", "Content-Length": body.length };
      return () =>
        again(1, async () => {
          const sockets: Socket[] = [];
          const left = Bun.sleep(LEAVE_MS);
          await hostile.hold(1_000, (socket) => {
            sockets.push(socket);
            socket.write(head(hostile, "POST", CHATS, json) + body);
          });
          await left;
          for (const socket of sockets) socket.destroy();
        });
    },
  },
  {
    name: "tool-calls",
    what: "8 streamed chats at a time, answered with 30,000 tool calls each",
    tier: "free",
    async prepare(hostile) {
      const agent_id = await hostile.createAgent(hostile.model("tool-calls"));
      return () => again(8, () => hostile.request("POST", CHATS, { agent_id, message: "Hi", streaming: true }));
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
    name: "placeholders",
    what: "8 chats at a time with a prompt of 55,000 placeholders",
    tier: "enterprise",
    async prepare(hostile) {
      const prompt_content = Array.from({ length: 55_000 }, (_, at) => `{{${at}}}`).join("");
      const agent_id = await hostile.createAgent(hostile.model("short"), { prompt_content });
      return () => again(8, () => hostile.request("POST", CHATS, { agent_id, message: "Hi", streaming: false }));
    },
  },
  {
    name: "interim-responses",
    what: "8 chats at a time and 4 webhooks that get 100 Continue without end",
    tier: "free",
    async prepare(hostile) {
      const agent_id = await hostile.createAgent(hostile.interim);
      for (let at = 0; at < 4; at++) await hostile.createDestination(hostile.interim);
      const ends = await hostile.startConversations(agent_id, 100);
      return () => {
        for (const end of ends) void end();
        return again(8, () => hostile.request("POST", CHATS, { agent_id, message: "Hi", streaming: true }));
      };
    },
  },
  {
    name: "stalled-names",
    what: "100 chats at a time and 50 webhooks at names whose servers never answer",
    tier: "enterprise",
    needsResolver: true,
    async prepare(hostile) {
      const hosts = Array.from({ length: 50 }, (_, at) => `https://host-${at}.${STALLED}`);
      const agents: string[] = [];
      await eachOf(hosts, 10, async (host) => {
        agents.push(await hostile.createAgent(`${host}/v1`));
        await hostile.createDestination(host);
      });
      const ends = await hostile.startConversations(agents[0] ?? "", 10);
      return () => {
        for (const end of ends) void end();
        return again(100, (worker) => {
          const agent_id = agents[worker % agents.length];
          return hostile.request("POST", CHATS, { agent_id, message: "Hi", streaming: false });
        });
      };
    },
  },
];
