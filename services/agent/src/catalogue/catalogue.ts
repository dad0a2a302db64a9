import { type GENDERS, TTS_PROVIDERS } from "@parley/shared/domain/api-names";
import { invalid } from "@parley/shared/errors";
import data from "./data/llm.json" with { type: "json" };

/** Every provider that is accepted; of language models, those that the data lists. */
export const PROVIDERS = {
  llm: Object.keys(data.llm) as (keyof typeof data.llm)[],
  stt: ["DEEPGRAM", "ASSEMBLYAI"],
  tts: TTS_PROVIDERS,
} as const;

export type ProviderKind = keyof typeof PROVIDERS;

/** Model names by provider. */
export type Models = Readonly<Record<string, readonly string[]>>;

export interface Voice {
  voiceId: string;
  name: string;
  /** NEUTRAL too where the provider states none. */
  gender: keyof typeof GENDERS;
  /** BCP 47. */
  language: string;
  previewUrl: string | null;
  /** Null: it speaks with every model of its provider. */
  models: readonly string[] | null;
}

/** Every model name that is accepted, and the voices anybody can use. */
export interface Catalogue extends Readonly<Record<ProviderKind, Models>> {
  /** By provider, in the order of `compareVoices`. */
  voices: Readonly<Record<string, readonly Voice[]>>;
  /** When its data last changed. */
  updatedAt: Date;
}

/** A customer's own endpoint: any model name. */
export const CUSTOM_LLM = "CUSTOM_LLM";

/** @throws ServiceError invalid, naming the known providers or models, at `path`.provider_name or `path`.model_name. */
export function checkModel(
  catalogue: Catalogue,
  kind: ProviderKind,
  path: string,
  config: { providerName: string; modelName?: string | undefined },
): void {
  if (kind === "llm" && config.providerName === CUSTOM_LLM) return;
  const known = catalogue[kind];
  const models = Object.hasOwn(known, config.providerName) ? known[config.providerName] : undefined;
  if (!models) {
    const names = [...Object.keys(known), ...(kind === "llm" ? [CUSTOM_LLM] : [])];
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

/** By name, case aside; the id settles which of two namesakes is first. */
export function compareVoices(a: Voice, b: Voice): number {
  return compare(a.name.toLowerCase(), b.name.toLowerCase()) || compare(a.voiceId, b.voiceId);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
