import type { ModelPrice, ProviderModels } from "@parley/proto/parley/agent/v1/agent.ts";

/** The known prices of language models, by provider and model; providers without any are left out. */
export function presentPrices(providers: readonly ProviderModels[]) {
  const shown = providers.flatMap(({ providerName, prices }) => {
    const ofModels = Object.entries(prices).map(([model, price]) => [model, presentPrice(price)] as const);
    return ofModels.length > 0 ? [[providerName, Object.fromEntries(ofModels)] as const] : [];
  });
  return Object.fromEntries(shown);
}

/** The part of a price that an owner states for a model of its own. */
export function presentPricing({ input, output, cachedInput }: ModelPrice) {
  return { input, output, ...(cachedInput !== undefined && { cached_input: cachedInput }) };
}

function presentPrice(price: ModelPrice) {
  const { cacheWrite, inputTokensMax } = price;
  return {
    ...presentPricing(price),
    ...(cacheWrite !== undefined && { cache_write: cacheWrite }),
    ...(inputTokensMax !== undefined && { input_tokens_max: inputTokensMax }),
    source: price.source,
    date: price.date,
  };
}
