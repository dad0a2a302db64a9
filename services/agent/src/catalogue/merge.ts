import type { ModelPrice } from "@parley/proto/parley/agent/v1/agent.ts";
import {
  type Catalogue,
  compareVoices,
  type Models,
  PROVIDERS,
  type Prices,
  type ProviderKind,
  type Voice,
} from "./catalogue.ts";
import { type CatalogueFile, CatalogueFileError, type PriceEntry, type VoiceEntry } from "./file.ts";

type ByProvider<T> = Readonly<Record<string, T | undefined>>;

/** A catalogue that lists every provider without models, prices or voices. */
export const EMPTY: Catalogue = {
  prices: {},
  llm: emptyLists("llm"),
  stt: emptyLists("stt"),
  tts: emptyLists("tts"),
  voices: emptyLists("tts"),
  updatedAt: new Date(0),
};

/**
 * Adds a file's models, prices and voices to a catalogue. The price of a priced model and a voice with a known id replace the
 * earlier ones.
 * @throws CatalogueFileError on a voice that the file has twice, or on one or a price of a model the catalogue does not have
 */
export function mergeFile(catalogue: Catalogue, file: CatalogueFile): Catalogue {
  const llm = mergeModels(catalogue.llm, file.llm);
  const tts = mergeModels(catalogue.tts, file.tts);
  const updatedAt = new Date(Math.max(catalogue.updatedAt.getTime(), Date.parse(file.updated_at ?? "") || 0));
  return {
    llm,
    prices: mergePrices(catalogue.prices, file, llm),
    stt: mergeModels(catalogue.stt, file.stt),
    tts,
    voices: mergeVoices(catalogue.voices, file.tts, tts),
    updatedAt,
  };
}

function emptyLists(kind: ProviderKind): Record<string, never[]> {
  return Object.fromEntries(PROVIDERS[kind].map((name) => [name, []]));
}

function mergeModels(known: Models, added: ByProvider<{ models?: string[] }> = {}): Models {
  const lists = Object.entries(known).map(([name, models]) => {
    const more = added[name]?.models ?? [];
    return [name, [...new Set([...models, ...more])]] as const;
  });
  return Object.fromEntries(lists);
}

function mergePrices(known: Prices, { llm = {}, updated_at = "" }: CatalogueFile, models: Models): Prices {
  const lists = Object.entries(llm).map(([name, { prices = {} }]) => {
    const unknown = Object.keys(prices).find((model) => !models[name]?.includes(model));
    if (unknown !== undefined) {
      throw new CatalogueFileError(`llm.${name}.prices names ${unknown}: list it in llm.${name}.models too`);
    }
    const added = Object.entries(prices).map(([model, entry]) => [model, toPrice(entry, updated_at)] as const);
    return [name, { ...known[name], ...Object.fromEntries(added) }] as const;
  });
  return { ...known, ...Object.fromEntries(lists) };
}

/** @param updatedAt when the file says that it was last changed */
function toPrice({ cached_input, cache_write, input_tokens_max, ...entry }: PriceEntry, updatedAt: string): ModelPrice {
  return {
    input: entry.input,
    output: entry.output,
    cachedInput: cached_input,
    cacheWrite: cache_write,
    inputTokensMax: input_tokens_max,
    source: entry.source ?? "PARLEY_CATALOGUE",
    date: entry.date ?? updatedAt.slice(0, 10),
  };
}

function mergeVoices(
  known: Catalogue["voices"],
  added: ByProvider<{ voices?: VoiceEntry[] }> = {},
  models: Models,
): Catalogue["voices"] {
  const lists = Object.entries(known).map(([name, voices]) => {
    const entries = added[name]?.voices ?? [];
    const byId = new Map(entries.map((entry, at) => [entry.voice_id, { entry, at }]));
    for (const [at, entry] of entries.entries()) {
      const place = `tts.${name}.voices.${at}`;
      if (byId.get(entry.voice_id)?.at !== at) {
        throw new CatalogueFileError(`${place}.voice_id ${entry.voice_id} is given twice: give it once`);
      }
      const unknown = entry.models?.find((model) => !models[name]?.includes(model));
      if (unknown !== undefined) {
        throw new CatalogueFileError(`${place}.models names ${unknown}: list it in tts.${name}.models too`);
      }
    }
    const merged = [...voices.filter((voice) => !byId.has(voice.voiceId)), ...entries.map(toVoice)];
    return [name, entries.length === 0 ? voices : merged.sort(compareVoices)] as const;
  });
  return Object.fromEntries(lists);
}

function toVoice({ voice_id, name, gender, language, preview_url, models }: VoiceEntry): Voice {
  return { voiceId: voice_id, name, gender, language, previewUrl: preview_url ?? null, models: models ?? null };
}
