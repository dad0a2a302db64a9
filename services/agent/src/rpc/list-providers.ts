import type { Models, Prices } from "../catalogue/catalogue.ts";
import type { AgentContext, Handler } from "../context.ts";

export function listProviders(ctx: AgentContext): Handler<"listProviders"> {
  const { llm, tts, stt, prices, updatedAt } = ctx.catalogue;
  const response = { llm: listed(llm), tts: listed(tts), stt: listed(stt), updatedAt };
  const priced = { ...response, llm: listed(llm, prices) };
  return async ({ withPrices }) => (withPrices ? priced : response);
}

function listed(models: Models, prices: Prices = {}) {
  return Object.entries(models).map(([providerName, modelNames]) => ({
    providerName,
    modelNames: [...modelNames],
    prices: { ...prices[providerName] },
  }));
}
