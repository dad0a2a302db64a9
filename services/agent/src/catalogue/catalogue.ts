import { invalid } from "@parley/shared/errors";
import models from "./models.json" with { type: "json" };

export type ProviderKind = "llm" | "stt" | "tts";

/** Every provider and model name that is accepted. */
export type Catalogue = Readonly<Record<ProviderKind, Readonly<Record<string, readonly string[]>>>>;

export const CATALOGUE: Catalogue = models;

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
