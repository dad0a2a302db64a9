import { GENDERS, namesOf } from "@parley/shared/domain/api-names";
import { PRICE_MAX } from "@parley/shared/domain/prices";
import { type Static, type TOptional, type TSchema, Type } from "@sinclair/typebox";
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import { PROVIDERS, type Voice } from "./catalogue.ts";
import { isLanguageTag } from "./language.ts";

/** An error in a catalogue file: one sentence that names the place and the fix. */
export class CatalogueFileError extends Error {
  override readonly name = "CatalogueFileError";
}

const closed = { additionalProperties: false };
const words = (description: string) =>
  Type.Array(Type.String({ minLength: 1, description }), { description: "an array" });

const VoiceEntry = Type.Object(
  {
    voice_id: Type.String({ minLength: 1, maxLength: 200, description: "a text of 1 to 200 characters" }),
    name: Type.String({ minLength: 1, maxLength: 100, description: "a text of 1 to 100 characters" }),
    gender: Type.Unsafe<Voice["gender"]>(
      Type.Union(
        namesOf(GENDERS).map((gender) => Type.Literal(gender)),
        { description: `one of ${namesOf(GENDERS).join(", ")}` },
      ),
    ),
    language: Type.String({ description: "a BCP 47 tag, such as en or en-US" }),
    preview_url: Type.Optional(Type.String({ pattern: "^https://", description: "an https:// address" })),
    models: Type.Optional(words("the name of a model")),
  },
  { ...closed, description: "an object" },
);

/** @param what the tokens that it is for */
const dollars = (what: string) =>
  Type.Number({
    minimum: 0,
    maximum: PRICE_MAX,
    description: `0 to ${PRICE_MAX}, the US dollars per million ${what}`,
  });
const PriceEntry = Type.Object(
  {
    input: dollars("input tokens"),
    output: dollars("output tokens"),
    cached_input: Type.Optional(dollars("input tokens read from the provider's cache")),
    cache_write: Type.Optional(dollars("input tokens written to the provider's cache")),
    /** The price holds for requests of at most this many input tokens. */
    input_tokens_max: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "a whole number of tokens, at least 1" }),
    ),
    source: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "a text of 1 to 200 characters" })),
    date: Type.Optional(Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description: "a day, such as 2026-01-31" })),
  },
  { ...closed, description: "an object" },
);

const provider = {
  /** The source of the data. */
  sources: Type.Optional(words("a text")),
  models: Type.Optional(words("the name of a model")),
};
const Provider = Type.Object(provider, { ...closed, description: "an object" });
const LlmProvider = Type.Object(
  {
    ...provider,
    prices: Type.Optional(Type.Record(Type.String(), PriceEntry, { description: "an object of prices by model" })),
  },
  { ...closed, description: "an object" },
);
const VoiceProvider = Type.Object(
  { ...provider, voices: Type.Optional(Type.Array(VoiceEntry, { description: "an array" })) },
  { ...closed, description: "an object" },
);

const File = Type.Object(
  {
    updated_at: Type.Optional(
      Type.String({
        pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z$",
        description: "a time, such as 2026-01-31T09:30:00Z",
      }),
    ),
    llm: Type.Optional(byName(PROVIDERS.llm, LlmProvider)),
    stt: Type.Optional(byName(PROVIDERS.stt, Provider)),
    tts: Type.Optional(byName(PROVIDERS.tts, VoiceProvider)),
  },
  { ...closed, description: "an object" },
);

/** A catalogue, or a part of one, as JSON: the built-in data and an operator's additions have the same form. */
export type CatalogueFile = Static<typeof File>;
export type VoiceEntry = Static<typeof VoiceEntry>;
export type PriceEntry = Static<typeof PriceEntry>;

/** @throws CatalogueFileError at the first violation */
export function readCatalogueFile(json: unknown): CatalogueFile {
  const error = Value.Errors(File, json).First();
  if (error) throw new CatalogueFileError(explain(error));
  const file = json as CatalogueFile;
  for (const [name, { voices = [] }] of Object.entries(file.tts ?? {})) {
    for (const [at, { language }] of voices.entries()) {
      if (isLanguageTag(language)) continue;
      throw new CatalogueFileError(
        `tts.${name}.voices.${at}.language must be ${VoiceEntry.properties.language.description}`,
      );
    }
  }
  return file;
}

function byName<K extends string, S extends TSchema>(names: readonly K[], schema: S) {
  const properties = Object.fromEntries(names.map((name) => [name, Type.Optional(schema)]));
  return Type.Object(properties as unknown as Record<K, TOptional<S>>, { ...closed, description: "an object" });
}

function explain({ type, path, schema }: ValueError): string {
  // A JSON pointer writes the / in a model's name as ~1.
  const place = path.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~") || "it";
  if (type === ValueErrorType.ObjectRequiredProperty) return `${place} is required`;
  if (type === ValueErrorType.ObjectAdditionalProperties) {
    return `${place} is not known: use ${Object.keys(schema.properties).join(", ")}`;
  }
  return `${place} must be ${schema.description}`;
}
