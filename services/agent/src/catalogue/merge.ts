import { type Catalogue, compareVoices, type Models, PROVIDERS, type ProviderKind, type Voice } from "./catalogue.ts";
import { type CatalogueFile, CatalogueFileError, type VoiceEntry } from "./file.ts";

type ByProvider<T> = Readonly<Record<string, T | undefined>>;

/** A catalogue that lists every provider without models or voices. */
export const EMPTY: Catalogue = {
  llm: emptyLists("llm"),
  stt: emptyLists("stt"),
  tts: emptyLists("tts"),
  voices: emptyLists("tts"),
  updatedAt: new Date(0),
};

/**
 * Adds a file's models and voices to a catalogue; a voice with a known id replaces the earlier one.
 * @throws CatalogueFileError on a voice that the file has twice, or that names a model the catalogue does not have
 */
export function mergeFile(catalogue: Catalogue, file: CatalogueFile): Catalogue {
  const tts = mergeModels(catalogue.tts, file.tts);
  const updatedAt = new Date(Math.max(catalogue.updatedAt.getTime(), Date.parse(file.updated_at ?? "") || 0));
  return {
    llm: mergeModels(catalogue.llm, file.llm),
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
