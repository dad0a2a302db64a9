import { parseArgs } from "node:util";
import { createAgent, createTool } from "../agents.ts";
import { table } from "../figures.ts";
import type { Run } from "../run.ts";
import { type BenchStack, startBenchStack } from "../stack.ts";
import { type Api, apiOf } from "./api.ts";
import { talks } from "./corpus.ts";
import { GOOD_MODEL, startShopModel } from "./model.ts";
import { startRecognition } from "./recognition.ts";
import { type Change, harmlessChanges, type Parts, regressions } from "./regressions.ts";
import { hold, type Replayed, replay } from "./replay.ts";
import { ACCOUNTING_PROMPT, analysisSchema, GREETING, PROMPT, SALES_PROMPT, startShop, TOOLS, TOPICS } from "./shop.ts";

const WHOLE = 200;
const PLANTED = 10;
const SHOWN_MIN = 9;
const KINDS = ["tools", "outcome", "analysis", "reply"] as const;

/**
 * Plants regressions in an agent, one version each, replays stored conversations against each version, and counts those whose replay lists a
 * difference. `--conversations 40` makes a shorter run, `--calls 0` one without calls, `--only <words>` one of the changes with these words.
 */
export async function benchReplays(run: Run): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      conversations: { type: "string", default: String(WHOLE) },
      calls: { type: "string", default: "8" },
      only: { type: "string", default: "" },
    },
  });
  const [conversations, callsMax] = [Number(values.conversations), Number(values.calls)] as const;
  if (!Number.isInteger(conversations) || conversations < 20 || conversations > 500)
    throw new Error("--conversations must be a number from 20 to 500");
  if (!Number.isInteger(callsMax) || callsMax < 0 || callsMax > 20)
    throw new Error("--calls must be a number from 0 to 20");

  console.log("starting Parley and the stand-ins");
  const stack = await startBenchStack(run);
  const api = apiOf(stack);
  const { agentId, parts } = await createDesk(run, stack);
  console.log(`holding ${conversations} conversations`);
  const held = await hold(api, agentId, talks(conversations));
  const spoken = held.filter(({ isSpeakable }) => isSpeakable).slice(0, callsMax);
  // Each change is a version that is replayed, and none of them is published.
  await api("PATCH", `/agents/${agentId}`, { publishing: "manual" });

  const chats = { max: held.length, conversations: { agent_version: 1 } };
  const calls = {
    max: spoken.length,
    channel: "voice",
    conversations: { conversation_ids: spoken.map(({ conversationId }) => conversationId) },
  };
  const isChosen = ({ name, isHeard }: Change) => name.includes(values.only) && !(isHeard && spoken.length === 0);
  const chosen = [...harmlessChanges(parts), ...regressions(parts)].filter(isChosen);
  const rows: string[][] = [["change", "of", "shown", "differ", ...KINDS, "errors", "seconds"]];
  let [planted, shown, falseAlarms] = [0, 0, 0];
  for (const change of chosen) {
    await plant(api, agentId, change);
    const replayed = await replay(api, agentId, change.isHeard ? calls : chats);
    await undo(api, agentId, parts, change);
    rows.push(rowOf(change, replayed));
    console.log(`${change.name}: ${replayed.differing} of ${replayed.total} differ`);
    for (const example of replayed.examples) console.log(`    ${example}`);
    if (change.of === null) falseAlarms += replayed.differing;
    else planted++;
    if (change.of !== null && replayed.differing > 0) shown++;
  }
  const isWhole = conversations >= WHOLE && planted === PLANTED;
  const verdict = shown >= SHOWN_MIN && falseAlarms === 0 ? "met" : "MISSED";
  console.log(`\n${table(rows)}`);
  console.log(`\n${shown} of ${planted} regressions show; ${falseAlarms} false alarms`);
  console.log(
    `Goal: at least ${SHOWN_MIN} of ${PLANTED}, and no false alarm: ${isWhole ? verdict : "not judged by a short run"}`,
  );
}

/** Creates the agent with its tools, the agents that it hands over to, and the servers behind them. */
async function createDesk(run: Run, stack: BenchStack): Promise<{ agentId: string; parts: Parts }> {
  const model = startShopModel();
  run.onEnd(() => model.stop());
  const shop = startShop();
  run.onEnd(() => shop.stop());
  const recognition = startRecognition(`http://${stack.address("speech")}`);
  run.onEnd(() => recognition.stop());

  const llm = {
    provider_name: "CUSTOM_LLM",
    model_name: GOOD_MODEL,
    params: { base_url: `${model.url}/v1`, api_key: "any" },
  };
  const stt = {
    provider_name: "CUSTOM_STT",
    model_name: "pocketsphinx",
    language: "en-US",
    params: { base_url: `${recognition.url}/v1` },
  };
  const other = async (agent_name: string, prompt_content: string) =>
    (await createAgent(stack, { agent_name, prompt_content, llm, stt })).id;
  const accountingId = await other("Accounting", ACCOUNTING_PROMPT);
  const salesId = await other("Sales", SALES_PROMPT);
  const toolIds = {} as Parts["toolIds"];
  for (const [key, { path, ...tool }] of Object.entries(TOOLS))
    toolIds[key as keyof typeof TOOLS] = await createTool(stack, { ...tool, type: "http", url: shop.url + path });
  const agent = {
    llm,
    stt,
    custom_tools: Object.values(toolIds).map((tool_id) => ({ tool_id })),
    handoffs: [{ agent_id: accountingId, when: "The customer has a question about an invoice or a payment." }],
  };
  const { id } = await createAgent(stack, {
    ...agent,
    ...PLAIN,
    agent_name: "Service desk",
    tools: { end_call: true },
    call_analysis_enabled: true,
    call_analysis_prompt: { custom_prompt: "What was it about, and was the customer helped?" },
  });
  return { agentId: id, parts: { agent, toolIds, salesId } };
}

const PLAIN = {
  prompt_content: PROMPT,
  first_message_prompt: GREETING,
  call_analysis_schema: analysisSchema(TOPICS),
};

async function plant(api: Api, agentId: string, { agent, tool }: Change): Promise<void> {
  if (agent) await api("PATCH", `/agents/${agentId}`, agent);
  if (tool) await api("PATCH", `/tools/${tool.id}`, tool.fields);
}

async function undo(api: Api, agentId: string, { agent: whole, toolIds }: Parts, { agent, tool }: Change) {
  if (agent) {
    const before = Object.entries({ ...whole, ...PLAIN }).filter(([field]) => field in agent);
    await api("PATCH", `/agents/${agentId}`, Object.fromEntries(before));
  }
  if (tool) {
    const key = Object.entries(toolIds).find(([, id]) => id === tool.id)?.[0] as keyof typeof TOOLS;
    await api("PATCH", `/tools/${tool.id}`, { parameters: TOOLS[key].parameters, result: null });
  }
}

function rowOf({ name, of, isHeard }: Change, { differing, total, counts, errors, seconds }: Replayed): string[] {
  const shown = differing > 0 ? "yes" : "NO";
  return [
    `${name}${isHeard ? " (calls)" : ""}`,
    of ?? "",
    of === null ? "" : shown,
    `${differing}/${total}`,
    ...KINDS.map((what) => String(counts[what] ?? 0)),
    String(errors),
    seconds.toFixed(0),
  ];
}
