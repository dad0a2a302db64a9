import { CARRIERS, GENDERS, namesOf, TTS_PROVIDERS } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { At, Id, Resource } from "./resources.ts";
import { Nullable, OneOf, PageQuery, Text } from "./types.ts";

export const VOICES_PAGE_SIZE = 20;

export const VoiceProvider = OneOf(TTS_PROVIDERS, { description: "Text-to-speech provider." });

export const ListVoicesQuery = Type.Object({
  provider: VoiceProvider,
  page: PageQuery.page,
  page_size: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: VOICES_PAGE_SIZE, description: "Items on a page." }),
  ),
  language: Type.Optional(
    Text({
      max: 35,
      pattern: "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$",
      form: "look like a BCP 47 tag, such as en or en-US",
      description: "BCP 47 tag, in any case. `en` matches `en-US` too.",
      example: "en",
    }),
  ),
  gender: Type.Optional(OneOf(namesOf(GENDERS), { description: "Only voices of this gender." })),
  search: Type.Optional(Text({ max: 200, description: "Part of the name, in any case." })),
  cloned_only: Type.Optional(Type.Boolean({ default: false, description: "Only the owner's own voices." })),
  model: Type.Optional(Text({ max: 200, description: "Only voices that this model of the provider can speak with." })),
});

export const ListNumbersQuery = Type.Object({
  include: Type.Optional(OneOf(["sip"] as const, { description: "`sip`: show the numbers of SIP trunks too." })),
});

export const ListProvidersQuery = Type.Object({
  include: Type.Optional(
    OneOf(["prices"] as const, { description: "`prices`: show what the language models cost too." }),
  ),
});

const Dollars = (tokens: string) => Type.Number({ minimum: 0, description: `US dollars per million ${tokens}.` });

const ModelPrice = Resource(
  "ModelPrice",
  {
    input: Dollars("input tokens"),
    output: Dollars("output tokens"),
    cached_input: Type.Optional(Dollars("input tokens read from the provider's cache; if left out, as `input`")),
    cache_write: Type.Optional(Dollars("input tokens written to the provider's cache; if left out, as `input`")),
    input_tokens_max: Type.Optional(
      Type.Integer({ description: "The price of a request with more input tokens is unknown." }),
    ),
    source: Type.String({ description: "Where the price is from.", examples: ["@pydantic/genai-prices 0.1.8"] }),
    date: Type.String({ format: "date", description: "The day that the price was taken.", examples: ["2026-09-23"] }),
  },
  "What a language model costs.",
);

const modelsOf = (description: string) =>
  Type.Record(Type.String(), Type.Array(Type.String()), { description: `${description} Models by provider.` });
export const Providers = Resource("Providers", {
  llm: modelsOf("Language models."),
  tts: modelsOf("Text-to-speech."),
  stt: modelsOf("Speech-to-text."),
  timestamp: At("When the catalogue was last updated."),
  prices: Type.Optional(
    Type.Record(Type.String(), Type.Record(Type.String(), ModelPrice), {
      description:
        "Only with `include=prices`: prices of language models, by provider and model. The price of any other model is unknown.",
    }),
  ),
});

export const Voice = Resource("Voice", {
  id: Type.String({ description: "The value for `voice_id`.", examples: ["alloy"] }),
  name: Type.String({ description: "Name of the voice." }),
  provider: Type.String({ description: "Provider of the voice." }),
  gender: OneOf(namesOf(GENDERS), { description: "Gender of the voice." }),
  language: Type.String({ description: "Language of the voice, as a BCP 47 tag.", examples: ["en-US"] }),
  preview_url: Nullable(Type.String(), "Address of a sample; null if there is none."),
});

export const VoiceList = Resource("VoiceList", {
  voices: Type.Array(Voice, { description: "Voices of the page." }),
  total_count: Type.Integer({ description: "Number of voices on all pages." }),
  page: Type.Integer({ description: "This page." }),
  page_size: Type.Integer({ description: "Voices on a full page." }),
  has_more: Type.Boolean({ description: "Whether there is a next page." }),
});

export const MobileNumber = Resource("MobileNumber", {
  mobile_number: Type.String({ description: "Phone number in E.164 form.", examples: ["+14155550123"] }),
  telephony_provider: OneOf([...CARRIERS, "SIP"] as const, {
    description: "Carrier of the number. SIP is shown only with `include=sip`.",
  }),
});

export const MobileNumbers = Resource("MobileNumbers", {
  user_id: Id("ID of the owner.", "own_01m7yyhwdzeb28n9gms8rr2qyg"),
  purchased_mobile_numbers: Type.Array(MobileNumber, { description: "All phone numbers, oldest first." }),
});
