/** The settings of providers that were left for another one, by where they are and the provider's name. */
export type Entered = Map<string, unknown>;

/**
 * The settings of another provider: those that were entered for it before, or new ones.
 * @param path where the settings are, such as `llm.fallbacks.0`
 * @param left the settings that are given up for now, and are remembered
 */
export function switched<Value extends { provider_name: string }>(
  entered: Entered,
  path: string,
  left: Value | null,
  provider: string,
  fresh: () => Value,
): Value {
  if (left) entered.set(`${path} ${left.provider_name}`, left);
  return (entered.get(`${path} ${provider}`) as Value | undefined) ?? fresh();
}

/** Forgets the settings below a path, when those that follow it in a list take its place. */
export function forgetBelow(entered: Entered, path: string): void {
  for (const key of entered.keys()) if (key.startsWith(`${path}.`)) entered.delete(key);
}
