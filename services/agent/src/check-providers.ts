import type { LlmConfig, StsConfig, SttConfig, TtsConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type { AllowList } from "@parley/shared/egress/allow-list";
import { checkAddress } from "@parley/shared/egress/url";
import { invalid } from "@parley/shared/errors";
import { type Catalogue, CUSTOM, checkModel } from "./catalogue/catalogue.ts";

export interface ProviderConfigs {
  stt: SttConfig | undefined;
  llm: LlmConfig | undefined;
  tts: TtsConfig | undefined;
  sts: StsConfig | undefined;
}

interface ProviderRules {
  catalogue: Catalogue;
  /** Private hosts where an owner's own endpoints may be. */
  allowedHosts: AllowList;
}

/**
 * @throws ServiceError invalid at the first provider or model that the catalogue does not list, at the price of a model that is
 * not the owner's own, or at a `base_url` that the egress guard refuses: the calling service would refuse it too, but only in the middle of a conversation
 */
export function checkProviders({ catalogue, allowedHosts }: ProviderRules, { stt, llm, tts }: ProviderConfigs): void {
  if (stt) checkModel(catalogue, "stt", "stt", stt);
  if (tts) checkModel(catalogue, "tts", "tts", tts);
  for (const [path, config] of Object.entries({ stt, tts })) {
    if (config?.endpoint) checkAddress(`${path}.params.base_url`, config.endpoint.baseUrl, allowedHosts);
  }
  const llms: [string, LlmConfig][] = llm
    ? [["llm", llm], ...llm.fallbacks.map((fallback, at): [string, LlmConfig] => [`llm.fallbacks.${at}`, fallback])]
    : [];
  for (const [path, config] of llms) {
    checkModel(catalogue, "llm", path, config);
    if (config.price && config.providerName !== CUSTOM.llm) {
      throw invalid(`${path}.pricing`, `${path}.pricing is for ${CUSTOM.llm} only: leave it out`);
    }
    if (config.params?.baseUrl !== undefined)
      checkAddress(`${path}.params.base_url`, config.params.baseUrl, allowedHosts);
  }
}
