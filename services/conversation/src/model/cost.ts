import type { ModelPrice } from "@parley/proto/parley/agent/v1/agent.ts";
import type { TokenUsage } from "./port.ts";

/**
 * What one answer of a model cost, in millionths of a US dollar, by its provider's count of tokens. Null when the price or a count is
 * unknown, or the price does not apply to that many input tokens.
 */
export function costUsdMicros(price: ModelPrice | undefined, usage: TokenUsage): number | null {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  if (!price || inputTokens === undefined || outputTokens === undefined) return null;
  if (inputTokens > (price.inputTokensMax ?? Number.POSITIVE_INFINITY)) return null;
  // The counts of a user's own model can be anything.
  const uncached = inputTokens - cachedInputTokens - cacheWriteTokens;
  const counts = [uncached, cachedInputTokens, cacheWriteTokens, outputTokens].map(tokenCount);
  if (counts.includes(undefined)) return null;
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

/** No real count is larger. Up to this, the sum of a turn's calls fits a 32-bit integer, and its cost is exact. */
const TOKENS_MAX = 500_000_000;

/** The tokens that a provider reports; undefined unless they are a count of tokens. */
export function tokenCount(given: unknown): number | undefined {
  return Number.isInteger(given) && (given as number) >= 0 && (given as number) <= TOKENS_MAX
    ? (given as number)
    : undefined;
}
