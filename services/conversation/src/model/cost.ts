import type { ModelPrice } from "@parley/proto/parley/agent/v1/agent.ts";
import type { TokenUsage } from "./port.ts";

/**
 * What one answer of a model cost, in millionths of a US dollar, by its provider's count of tokens. Null when the price or a count is
 * unknown, or the price does not hold for so many input tokens.
 */
export function costUsdMicros(price: ModelPrice | undefined, usage: TokenUsage): number | null {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  if (!price || inputTokens === undefined || outputTokens === undefined) return null;
  if (inputTokens > (price.inputTokensMax ?? Number.POSITIVE_INFINITY)) return null;
  // The counts of a user's own model can be anything.
  const uncached = inputTokens - cachedInputTokens - cacheWriteTokens;
  if (![uncached, cachedInputTokens, cacheWriteTokens, outputTokens].every(isCount)) return null;
  // Dollars per million tokens are millionths of a dollar per token.
  return Math.round(
    uncached * price.input +
      cachedInputTokens * (price.cachedInput ?? price.input) +
      cacheWriteTokens * (price.cacheWrite ?? price.input) +
      outputTokens * price.output,
  );
}

/** What several answers cost together; unknown if the cost of one of them is. */
export function sumOfCosts(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

/** A larger number is no count of tokens, and its cost might not be an exact integer. */
const TOKENS_MAX = 1_000_000_000;

function isCount(tokens: number): boolean {
  return tokens >= 0 && tokens <= TOKENS_MAX;
}
