import { afterAll, beforeEach, expect, test } from "bun:test";
import { Tool, ToolMethod } from "@parley/proto/parley/agent/v1/tool.ts";
import { type ServiceProcess, startServiceProcess } from "@parley/testkit/programs/service-process";
import { type ChatClient, chatClient, createAgent, startTestChat, turn } from "./kit.ts";

const CALLS = 50;
const AT_ONCE = 10;
/** A process is killed whenever it has been sent so many calls. */
const CALLS_BEFORE_KILL = 12;

/** The requests that the tools' server has received, by idempotency key. */
const received = new Map<string, number[]>();
let calls = 0;
let kill: () => void = () => {};
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { number } = (await request.json()) as { number: number };
    const key = request.headers.get("idempotency-key") ?? "";
    received.set(key, [...(received.get(key) ?? []), number]);
    calls++;
    if (calls % CALLS_BEFORE_KILL === 0) kill();
    return Response.json({ booked: number });
  },
});
const service = await startTestChat();
afterAll(async () => {
  await service.stop();
  await server.stop(true);
});
beforeEach(() => {
  received.clear();
});

const bookTool = (isIdempotent: boolean) =>
  Tool.fromPartial({
    name: "book",
    description: "Books a table.",
    kind: {
      $case: "http",
      value: {
        method: ToolMethod.TOOL_METHOD_POST,
        url: `http://127.0.0.1:${server.port}/bookings`,
        parameters: [
          { name: "number", in: 4, required: true, source: { $case: "schema", value: { type: "integer" } } },
        ],
        idempotent: isIdempotent,
      },
    },
  });

test.each([
  ["may be repeated", true],
  ["may not be repeated", false],
])(
  "fifty turns whose processes are killed call a tool that %s without a double effect, and no later request lacks its result",
  async (_, isIdempotent) => {
    const owner = await createAgent(service);
    const { tool } = await service.agents.createTool({
      ownerId: owner.ownerId,
      tool: bookTool(isIdempotent),
      idempotency: undefined,
    });
    const agent = await createAgent(service, { customTools: [{ toolId: tool?.toolId ?? "" }] }, owner.ownerId);
    const broken: string[][] = [];
    service.model.script = (call) => {
      const { messages } = call.asked;
      const made = messages.filter((message) => message.startsWith("call: "));
      const told = messages.filter((message) => message.startsWith("result: "));
      if (made.length !== told.length || made.length > 1) broken.push(messages);
      const [number] = /\d+/.exec(messages[0] ?? "") ?? [];
      if (made.length === 0) call.callTool("book", JSON.stringify({ number: Number(number) }));
      else call.finish(told[0]?.includes("unknown") ? "Perhaps." : "Booked.");
    };
    const processes = restarting();
    const replies = await inTurns(CALLS, async (number) => {
      const idempotency = { key: `k${number} ${isIdempotent}`, fingerprint: Buffer.from(`${number}`) };
      const asked = turn(agent, `Book ${number}`, { idempotency });
      for (;;) {
        const chat = await processes.chat();
        const reply = await chat.completeTurn({ turn: asked }).catch(() => null);
        if (reply) return reply.response;
      }
    });
    await processes.stop();
    expect(processes.kills()).toBeGreaterThan(3);
    expect(broken).toEqual([]);
    const numbers = [...received.values()].map(([number]) => number ?? 0);
    expect(new Set(numbers).size).toBe(numbers.length);
    if (!isIdempotent) expect([...received.values()].filter((requests) => requests.length > 1)).toEqual([]);
    if (isIdempotent)
      expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: CALLS }, (_each, at) => at));
    for (const [number, reply] of replies.entries()) if (reply === "Booked.") expect(numbers).toContain(number);
    if (isIdempotent) expect(new Set(replies)).toEqual(new Set(["Booked."]));
  },
);

/** A conversation service that is started again when it is killed. */
function restarting() {
  let kills = 0;
  let current = start();
  async function start(): Promise<{ process: ServiceProcess; chat: ChatClient }> {
    const process = await startServiceProcess("conversation", { ...service.env, PARLEY_TURN_LEASE_MS: "500" });
    return { process, chat: chatClient(process.address) };
  }
  kill = () => {
    const killed = current;
    kills++;
    current = killed.then(async ({ process, chat }) => {
      await process.stop("SIGKILL");
      chat.close();
      return start();
    });
  };
  return {
    chat: async () => (await current).chat,
    kills: () => kills,
    stop: async () => {
      kill = () => {};
      const { process, chat } = await current;
      chat.close();
      await process.stop();
    },
  };
}

/** Does the work for each number from 0 on, several at a time. */
async function inTurns<T>(count: number, work: (number: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async () => {
    for (let number = next++; number < count; number = next++) results[number] = await work(number);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
