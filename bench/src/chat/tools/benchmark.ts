import { join } from "node:path";
import { eventually } from "@parley/testkit/eventually";
import { createAgent, createTool } from "../../agents.ts";
import { count, microseconds, milliseconds, table } from "../../figures.ts";
import type { Run } from "../../run.ts";
import { startExpress } from "../express/start.ts";
import type { Job } from "../load.ts";
import { type Bench, cpuLine, type Figures, type Measurable, measure, mediansOf, totalCpuUs } from "../measure.ts";
import { TOOL_MODEL } from "../reply.ts";
import type { Target } from "../sessions.ts";
import { AT_ONCE, ROUND_SECONDS, WARM_UP_SECONDS } from "../turns.ts";

interface Row {
  title: string;
  contender: Measurable;
  target: Target;
}

const STARTS_WITHIN_MS = 20_000;

/**
 * Measures whole turns in which the model calls a tool and then replies, through Parley and through the same loop written with the AI SDK,
 * and Parley's turns without a tool. Prints the figures.
 */
export async function benchTools(run: Run, bench: Bench, rounds: number): Promise<void> {
  const rows = await startRows(run, bench);
  for (const row of rows) await eventually(() => measure(bench, row.contender, jobOf(row, 1, 0.1)), STARTS_WITHIN_MS);
  for (const row of rows) await measure(bench, row.contender, jobOf(row, AT_ONCE, WARM_UP_SECONDS));
  const measured = rows.map((row) => ({ row, figures: [] as Figures[] }));
  for (let round = 0; round < rounds; round++) {
    for (const { row, figures } of measured) {
      figures.push(await measure(bench, row.contender, jobOf(row, AT_ONCE, ROUND_SECONDS)));
    }
  }
  const all = measured.map(({ row, figures }) => ({ ...mediansOf(figures), title: row.title }));
  console.log(`\nWhole replies after one tool call, a new session for each turn, ${AT_ONCE} at once\n${report(all)}`);
}

async function startRows(run: Run, { stack, contenders, upstreamUrl, ordersUrl }: Bench): Promise<Row[]> {
  const parley = contenders.find(({ name }) => name === "Parley");
  if (!parley) throw new Error("The field is without Parley");
  const toolId = await createTool(stack, {
    name: "find_order",
    description: "Looks up an order.",
    type: "http",
    method: "GET",
    url: `${ordersUrl}/orders/{order_id}`,
    parameters: [{ name: "order_id", in: "path", required: true, schema: { type: "string" } }],
  });
  const { id } = await createAgent(stack, {
    agent_name: "Front desk with a tool",
    llm: {
      provider_name: "CUSTOM_LLM",
      model_name: TOOL_MODEL,
      params: { base_url: `${upstreamUrl}/v1`, api_key: "any" },
    },
    custom_tools: [{ tool_id: toolId }],
  });
  const server = { name: "ai_sdk", entry: join(import.meta.dir, "ai-sdk.ts"), env: { ORDERS_URL: ordersUrl } };
  const { url, headers, pid, addAgent } = await startExpress(run, stack, server, `${upstreamUrl}/v1`);
  return [
    { title: "Parley, no tool", contender: parley, target: parley.targets.bench },
    {
      title: "Parley, one tool call",
      contender: parley,
      target: { protocol: "parley", url: stack.url, headers: { "X-API-Key": stack.apiKey }, agentId: id },
    },
    {
      title: "AI SDK, one tool call",
      contender: { name: "AI SDK", processes: { "AI SDK": pid }, stores: true },
      target: { protocol: "parley", url, headers, agentId: await addAgent(TOOL_MODEL) },
    },
  ];
}

function jobOf({ target }: Row, connections: number, seconds: number): Job {
  return { target, streamed: false, turnsPerSession: 1, connections, rampMs: 0, everyMs: 0, seconds };
}

function report(all: readonly (Figures & { title: string })[]): string {
  const heads = ["", "turns/s", "p50", "p99", "CPU/turn"];
  const rows = all.map((figures) => [
    figures.title,
    count(figures.turnsPerSecond),
    milliseconds(figures.p50Us),
    milliseconds(figures.p99Us),
    microseconds(totalCpuUs(figures)),
  ]);
  const lines = all.map((figures) => cpuLine({ name: figures.title }, figures));
  return `${table([heads, ...rows])}\n${lines.join("")}${ratioLine(all)}`;
}

function ratioLine([, parley, peer]: readonly Figures[]): string {
  if (!parley || !peer) return "";
  const rate = parley.turnsPerSecond / peer.turnsPerSecond;
  const cpu = totalCpuUs(parley) / totalCpuUs(peer);
  return `  With one tool call, Parley does ${rate.toFixed(2)} × the AI SDK's turns/s at ${cpu.toFixed(2)} × its CPU/turn\n`;
}
