import type { LlmConfig, StsConfig, SttConfig, TtsConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { type Catalogue, checkModel } from "./catalogue/catalogue.ts";

export interface ProviderConfigs {
  stt: SttConfig | undefined;
  llm: LlmConfig | undefined;
  tts: TtsConfig | undefined;
  sts: StsConfig | undefined;
}

/** @throws ServiceError invalid at the first provider or model that the catalogue does not list. */
export function checkProviders(catalogue: Catalogue, { stt, llm, tts }: ProviderConfigs): void {
  if (stt) checkModel(catalogue, "stt", "stt", stt);
  if (tts) checkModel(catalogue, "tts", "tts", tts);
  if (llm) {
    checkModel(catalogue, "llm", "llm", llm);
    for (const [at, fallback] of llm.fallbacks.entries()) checkModel(catalogue, "llm", `llm.fallbacks.${at}`, fallback);
  }
}
