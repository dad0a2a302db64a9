import type { Schema } from "../../../../api/client.ts";
import { Notice } from "../../../../ui/states.tsx";
import { providerLabel } from "../../provider-labels.ts";

export type ProviderSetup = Schema["ProviderSetup"];

/** The mark of a provider in a list of them. */
export function keyHint(setups: readonly ProviderSetup[], provider: string): string | undefined {
  return missingKey(setups, provider) && "no API key";
}

/** The operator's variable that a provider lacks; undefined if it can be used. */
export function missingKey(setups: readonly ProviderSetup[], provider: string): string | undefined {
  const setup = setups.find(({ provider_name }) => provider_name === provider);
  return setup && !setup.is_ready ? setup.key_variable : undefined;
}

/** Says that a provider cannot be used, what follows from that, and what to do. */
export function MissingKey({
  setups,
  provider,
  consequence,
}: {
  setups: readonly ProviderSetup[];
  provider: string;
  /** Such as "so the model is skipped". */
  consequence: string;
}) {
  const variable = missingKey(setups, provider);
  if (!variable) return null;
  return (
    <Notice tone="warning">
      This server has no API key for {providerLabel(provider)}, {consequence}. Ask its operator to set{" "}
      <code className="font-mono text-[0.8125rem]">{variable}</code>.
    </Notice>
  );
}
