import type { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type { TestDefinition, TestModel } from "@parley/shared/domain/tests";
import { invalid, ServiceError } from "@parley/shared/errors";
import { CUSTOM } from "../../catalogue/catalogue.ts";
import type { AgentContext } from "../../context.ts";
import { openLlm } from "../../model-keys/llm-secrets.ts";
import { getVersion } from "../../read-agents.ts";
import type { AgentRow } from "../../store/agents.ts";
import type { RunRow } from "../store/runs.ts";

/** A model of a test, with the key that the agent has for its endpoint. @throws ServiceError condition if the agent has none */
export async function testLlm(
  ctx: Pick<AgentContext, "db" | "modelKeys" | "catalogue">,
  run: RunRow,
  model: TestModel | null,
): Promise<LlmConfig | undefined> {
  if (!model) return undefined;
  const { provider_name: providerName, model_name: modelName, params } = model;
  const temperature = params?.temperature ?? 0;
  const standard = { providerName, modelName, fallbacks: [], price: ctx.catalogue.prices[providerName]?.[modelName] };
  const plain = { temperature, baseUrl: undefined, apiKey: undefined, apiType: undefined };
  if (providerName !== CUSTOM.llm) return { ...standard, params: plain };
  const { row } = await getVersion(ctx.db, run, run.agentVersion);
  const opened = row.llm && openLlm(row.llm, ctx.modelKeys, row, ctx.catalogue.prices);
  if (!opened || "unreadableKey" in opened)
    throw new ServiceError("condition", "The agent's own model cannot be asked: its key cannot be read");
  const own = [opened.llm, ...opened.llm.fallbacks].find(
    (llm) => llm.params?.baseUrl === (params?.base_url ?? undefined),
  );
  if (!own)
    throw new ServiceError("condition", `The version has no model at ${params?.base_url}, whose key the test needs`);
  const price = own.modelName === modelName ? own.price : undefined;
  return { ...own, modelName, fallbacks: [], price, params: { ...plain, ...own.params, temperature } };
}

/**
 * For a run with a cap: what is asked must have a price.
 * @throws ServiceError invalid, naming the models that have none
 */
export function requirePrices(
  { catalogue }: Pick<AgentContext, "catalogue">,
  { llm, sts }: Pick<AgentRow, "llm" | "sts">,
  tests: readonly TestDefinition[],
): void {
  const prices = catalogue.prices;
  const unpriced = new Set<string>();
  if (sts) unpriced.add(`${sts.providerName} ${sts.modelName}`);
  else if (!llm) unpriced.add("the operator's default model");
  for (const config of llm ? [llm, ...llm.fallbacks] : [])
    if (!config.price && !prices[config.providerName]?.[config.modelName])
      unpriced.add(`${config.providerName} ${config.modelName}`);
  const models = tests.flatMap(({ model, assertions }) => [model, ...assertions.map((assertion) => assertion.model)]);
  for (const model of models)
    if (model && !prices[model.provider_name]?.[model.model_name])
      unpriced.add(`${model.provider_name} ${model.model_name}`);
  if (unpriced.size === 0) return;
  throw invalid(
    "max_cost_usd",
    `max_cost_usd cannot be kept: ${[...unpriced].join(", ")} has no price. Leave it out, or send "unpriced": "allow"`,
  );
}
