import type { ModelPrice, ProviderModels } from "@parley/proto/parley/agent/v1/agent.ts";

/** The known prices of language models, by provider and model; providers without any are left out. */
export function presentPrices(providers: readonly ProviderModels[]) {
  const shown = providers.flatMap(({ providerName, prices }) => {
    const ofModels = Object.entries(prices).map(([model, price]) => [model, presentPrice(price)] as const);
    return ofModels.length > 0 ? [[providerName, Object.fromEntries(ofModels)] as const] : [];
  });
  return Object.fromEntries(shown);
}

function presentPrice({ cachedInput, cacheWrite, inputTokensMax, ...price }: ModelPrice) {
  return {
    input: price.input,
    output: price.output,
    ...(cachedInput !== undefined && { cached_input: cachedInput }),
    ...(cacheWrite !== undefined && { cache_write: cacheWrite }),
    ...(inputTokensMax !== undefined && { input_tokens_max: inputTokensMax }),
    source: price.source,
    date: price.date,
  };
}
