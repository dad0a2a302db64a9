import { PRICE_MAX } from "@parley/shared/domain/prices";
import { Type } from "@sinclair/typebox";
import { SecretName } from "../tools/parts.ts";
import { About, Json, Maybe, OneOf, strict, Text, Words } from "../types.ts";

export const Language = Text({
  max: 35,
  pattern: "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$",
  form: "look like a BCP 47 tag, such as en or en-US",
  description: "BCP 47 tag.",
  example: "en-US",
});
const ModelName = Words({ max: 200, description: "A model of the provider.", example: "gpt-4.1-mini" });
const Temperature = Type.Number({ minimum: 0, maximum: 2, description: "Sampling temperature.", examples: [0.5] });
/** The address of an owner's own model or speech server. */
const Endpoint = {
  // The operation's path is appended to it, which a query or a fragment would swallow. A URL parser drops line breaks
  // and tabs, so the address shown would differ from the address requested.
  base_url: Text({
    max: 2048,
    pattern: "^https?://[^?#\\s]*$",
    form: "be an https:// address without spaces, ? and #",
    description: "Address of an endpoint that speaks OpenAI's protocol, without the operation's path.",
    example: "https://llm.acme.example/v1",
  }),
  api_key: Type.Union(
    [
      // The characters that a header may contain.
      Text({
        min: 1,
        max: 1000,
        pattern: "^[\\x21-\\x7e]*$",
        form: "be printable ASCII without spaces",
        description: "The key itself. Responses show it masked; sending the mask back leaves it unchanged.",
        example: "sk-acme-0123456789",
      }),
      Type.Object(
        { secret: SecretName },
        { ...strict, description: "One of your secrets, whose current value is the key." },
      ),
    ],
    { description: "Key for the endpoint: a text, or `{ secret }`." },
  ),
};
const SpeechEndpoint = { base_url: Endpoint.base_url, api_key: Type.Optional(Endpoint.api_key) };

const sttLanguage = Maybe(Language, "Language that is spoken, as a BCP 47 tag. Default: the model's own.");
export const Stt = Type.Union(
  [
    Type.Object(
      {
        provider_name: Type.Literal("CUSTOM_STT", { description: "A server of your own." }),
        model_name: About(ModelName, "The model's name at your endpoint."),
        language: sttLanguage,
        params: Type.Object(SpeechEndpoint, {
          ...strict,
          description: "The server, which must have the operation `/audio/transcriptions`.",
        }),
      },
      { $id: "CustomSttRequest", description: "A speech-to-text server of your own." },
    ),
    Type.Object(
      {
        // Otherwise a CUSTOM_STT without its params would pass as a standard provider.
        provider_name: Text({
          min: 1,
          max: 100,
          pattern: "^(?!CUSTOM_STT$)",
          description: "A speech-to-text provider that GET /providers lists.",
          example: "DEEPGRAM",
        }),
        model_name: ModelName,
        language: sttLanguage,
        params: Maybe(Type.Object({}, strict), "Empty: speech-to-text has no parameters."),
      },
      { $id: "StandardSttRequest", description: "A model of a provider that the operator has a key for." },
    ),
  ],
  { $id: "SttRequest", description: "Speech-to-text model." },
);

const Dollars = (tokens: string, example: number) =>
  Type.Number({
    minimum: 0,
    maximum: PRICE_MAX,
    description: `US dollars per million ${tokens}.`,
    examples: [example],
  });
/** What an owner's own model costs. */
export const Pricing = Type.Object(
  {
    input: Dollars("input tokens", 0.4),
    output: Dollars("output tokens", 1.6),
    cached_input: Type.Optional(Dollars("input tokens read from a cache. Default: as `input`", 0.1)),
  },
  strict,
);

const CustomLlm = {
  provider_name: Type.Literal("CUSTOM_LLM", { description: "A model of your own." }),
  model_name: About(ModelName, "The model's name at your endpoint."),
  params: Type.Object(
    {
      ...Endpoint,
      API_TYPE: Type.Optional(
        OneOf(["CHAT_COMPLETION", "RESPONSES"] as const, {
          description: "Which of OpenAI's protocols the endpoint speaks. Default: CHAT_COMPLETION.",
        }),
      ),
      temperature: Type.Optional(Temperature),
    },
    { ...strict, description: "The model's endpoint and its parameters." },
  ),
  pricing: Maybe(Pricing, "What the model costs. Default: unknown, and so is what its replies cost."),
};
const StandardLlm = {
  // Otherwise a CUSTOM_LLM without its params would pass as a standard provider.
  provider_name: Text({
    min: 1,
    max: 100,
    pattern: "^(?!CUSTOM_LLM$)",
    description: "A language-model provider that GET /providers lists.",
    example: "OPENAI",
  }),
  model_name: ModelName,
  params: Maybe(
    Type.Object({ temperature: Type.Optional(Temperature) }, strict),
    "Parameters of the model. Default: none.",
  ),
};
const noFallbacks = {
  fallbacks: Maybe(Type.Array(Type.Unknown(), { maxItems: 0 }), "Empty: a fallback has none of its own."),
};
const fallbacks = {
  fallbacks: Maybe(
    Type.Array(
      Type.Union([Type.Object({ ...CustomLlm, ...noFallbacks }), Type.Object({ ...StandardLlm, ...noFallbacks })]),
      { maxItems: 3 },
    ),
    "Models to try, in this order, if the previous one does not start to answer.",
  ),
};
export const Llm = Type.Union(
  [
    Type.Object({ ...CustomLlm, ...fallbacks }, { $id: "CustomLlmRequest", description: "A model of your own." }),
    Type.Object(
      { ...StandardLlm, ...fallbacks },
      { $id: "StandardLlmRequest", description: "A model of a provider that the operator has a key for." },
    ),
  ],
  { $id: "LlmRequest", description: "Language model." },
);

const ttsFields = {
  language: Maybe(Language, "Language to speak, as a BCP 47 tag. Default: the voice's own."),
  voice_id: Text({
    min: 1,
    max: 200,
    description: "A voice that GET /voices lists for the provider.",
    example: "alloy",
  }),
};
const Speed = Type.Optional(
  Type.Number({ minimum: 0.25, maximum: 4, description: "Speed, 1 being normal.", examples: [1.1] }),
);
export const Tts = Type.Union(
  [
    Type.Object(
      {
        provider_name: Type.Literal("CUSTOM_TTS", { description: "A server of your own." }),
        model_name: Maybe(ModelName, "The model's name at your endpoint. Default: `tts-1`."),
        ...ttsFields,
        voice_id: About(ttsFields.voice_id, "A voice of your endpoint."),
        params: Type.Object(
          { ...SpeechEndpoint, speed: Speed },
          { ...strict, description: "The server, which must have the operation `/audio/speech`." },
        ),
      },
      { $id: "CustomTtsRequest", description: "A text-to-speech server of your own." },
    ),
    Type.Object(
      {
        // Otherwise a CUSTOM_TTS without its params would pass as a standard provider.
        provider_name: Text({
          min: 1,
          max: 100,
          pattern: "^(?!CUSTOM_TTS$)",
          description: "A text-to-speech provider that GET /providers lists.",
          example: "OPENAI",
        }),
        model_name: Maybe(ModelName, "A model of the provider. Default: the provider's own."),
        ...ttsFields,
        params: Maybe(Type.Object({ speed: Speed }, strict), "Parameters of the voice. Default: none."),
      },
      { $id: "StandardTtsRequest", description: "A voice of a provider that the operator has a key for." },
    ),
  ],
  { $id: "TtsRequest", description: "Text-to-speech voice." },
);

export const Sts = Type.Object(
  {
    provider_name: Text({ min: 1, max: 100, description: "A speech-to-speech provider.", example: "OPENAI" }),
    model_name: About(ModelName, "A speech-to-speech model of the provider."),
    language: Maybe(Language, "Language to speak, as a BCP 47 tag. Default: the model's own."),
    voice_id: Maybe(Text({ min: 1, max: 200 }), "A voice of the model. Default: the model's own."),
    params: Maybe(Json, "Parameters that the voice runtime passes to the model."),
  },
  { $id: "StsConfig", description: "Speech-to-speech model, in place of the other three." },
);
