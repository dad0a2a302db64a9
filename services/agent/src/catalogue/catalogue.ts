import type { ModelPrice } from "@parley/proto/parley/agent/v1/agent.ts";
import { TTS_PROVIDERS } from "@parley/shared/domain/api-names";
import { invalid } from "@parley/shared/errors";
import type { ClonedVoice } from "../store/cloned-voices.ts";
import data from "./data/llm.json" with { type: "json" };

/** Every accepted provider; for language models, those that the data lists. */
export const PROVIDERS = {
  llm: Object.keys(data.llm) as (keyof typeof data.llm)[],
  stt: ["DEEPGRAM", "ASSEMBLYAI"],
  tts: TTS_PROVIDERS,
} as const;

export type ProviderKind = keyof typeof PROVIDERS;

/** Model names by provider. */
export type Models = Readonly<Record<string, readonly string[]>>;

export interface Voice extends ClonedVoice {
  /** Null when the voice works with every model of its provider. */
  models: readonly string[] | null;
}

/** Prices of language models, by provider and model. A model without one has an unknown price. */
export type Prices = Readonly<Record<string, Readonly<Record<string, ModelPrice>>>>;

/** Every accepted model name, the prices of language models, and the voices that anyone can use. */
export interface Catalogue extends Readonly<Record<ProviderKind, Models>> {
  prices: Prices;
  /** By provider, each list in the order of `compareVoices`. */
  voices: Readonly<Record<string, readonly Voice[]>>;
  /** The newest date of its data. */
  updatedAt: Date;
}

/** A customer's own endpoint accepts any model name. */
export const CUSTOM = { llm: "CUSTOM_LLM", stt: "CUSTOM_STT", tts: "CUSTOM_TTS" } as const satisfies Record<
  ProviderKind,
  string
>;

/** @throws ServiceError invalid, naming the known providers or models, at `path`.provider_name or `path`.model_name. */
export function checkModel(
  catalogue: Catalogue,
  kind: ProviderKind,
  path: string,
  config: { providerName: string; modelName?: string | undefined },
): void {
  if (config.providerName === CUSTOM[kind]) return;
  const known = catalogue[kind];
  const models = Object.hasOwn(known, config.providerName) ? known[config.providerName] : undefined;
  if (!models) {
    const names = [...Object.keys(known), CUSTOM[kind]];
    throw invalid(`${path}.provider_name`, `${path}.provider_name must be one of ${names.join(", ")}`);
  }
  if (config.modelName !== undefined && !models.includes(config.modelName)) {
    throw invalid(
      `${path}.model_name`,
      `${path}.model_name must be one of ${models.join(", ")} for ${config.providerName}`,
    );
  }
}

/** @throws ServiceError invalid, naming the known providers, at `provider`. */
export function checkVoiceProvider(provider: string): void {
  const known: readonly string[] = PROVIDERS.tts;
  if (!known.includes(provider)) throw invalid("provider", `provider must be one of ${known.join(", ")}`);
}

/** By name, ignoring case; the id orders voices with the same name. */
export function compareVoices(a: Voice, b: Voice): number {
  return compare(a.name.toLowerCase(), b.name.toLowerCase()) || compare(a.voiceId, b.voiceId);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
