import { GENDERS, nameOf } from "@parley/shared/domain/api-names";
import { invalid } from "@parley/shared/errors";
import { pageOf } from "@parley/shared/page";
import { type Catalogue, checkVoiceProvider, compareVoices, type Voice } from "../catalogue/catalogue.ts";
import { toVoiceMessage } from "../catalogue/convert.ts";
import { findVoices } from "../catalogue/find-voices.ts";
import type { AgentContext, Handler } from "../context.ts";
import { listClonedVoices } from "../store/cloned-voices.ts";

const PAGE_SIZE_DEFAULT = 20;

/** The owner's own voices first, then the public ones, each in the order of `compareVoices`. */
export function listVoices(ctx: AgentContext): Handler<"listVoices"> {
  return async ({ ownerId, page, providerName, language, gender, search, clonedOnly, modelName }) => {
    const { number, size } = pageOf(page, PAGE_SIZE_DEFAULT);
    checkVoiceProvider(providerName);
    checkVoiceModel(ctx.catalogue, providerName, modelName);
    const cloned = (await listClonedVoices(ctx.db, ownerId, providerName)).map(toVoice).sort(compareVoices);
    const shared = clonedOnly ? [] : (ctx.catalogue.voices[providerName] ?? []);
    const filter = { language, gender: nameOf(GENDERS, gender) ?? null, search, modelName };
    const found = findVoices([...cloned, ...shared], filter);
    const shown = found.slice((number - 1) * size, number * size);
    return { voices: shown.map((voice) => toVoiceMessage(voice, providerName)), total: found.length };
  };
}

function checkVoiceModel(catalogue: Catalogue, providerName: string, modelName: string): void {
  const models = catalogue.tts[providerName] ?? [];
  if (modelName !== "" && !models.includes(modelName)) {
    throw invalid("model", `model must be one of ${models.join(", ")} for ${providerName}`);
  }
}

function toVoice(cloned: Omit<Voice, "models">): Voice {
  return { ...cloned, models: null };
}
