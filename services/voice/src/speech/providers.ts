import type { SpeechEndpoint, StsConfig, SttConfig, TtsConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type { ProviderSetup } from "@parley/proto/parley/common/v1/common.ts";
import { ServiceError } from "@parley/shared/errors";
import { str, url, type ValidatorSpec } from "envalid";
import type { Access, Times } from "./access.ts";
import { googleSpeechToSpeech } from "./sts/google.ts";
import { openAiSpeechToSpeech } from "./sts/openai.ts";
import type { SpeechToSpeech } from "./sts.ts";
import { assemblyAiSpeechToText } from "./stt/assemblyai.ts";
import { customSpeechToText } from "./stt/custom.ts";
import { deepgramSpeechToText } from "./stt/deepgram.ts";
import type { SpeechToText } from "./stt.ts";
import { cartesiaTextToSpeech } from "./tts/cartesia.ts";
import { deepgramTextToSpeech } from "./tts/deepgram.ts";
import { elevenLabsTextToSpeech } from "./tts/elevenlabs.ts";
import { googleTextToSpeech } from "./tts/google.ts";
import { customTextToSpeech, openAiTextToSpeech } from "./tts/openai.ts";
import type { TextToSpeech } from "./tts.ts";

interface Provider<Speech> {
  key: string;
  /** The variable with its address, and the default. */
  address: readonly [variable: string, baseUrl: string];
  create(access: Access, model: string): Speech;
}

type Providers<Speech> = Readonly<Record<string, Provider<Speech>>>;

const DEEPGRAM = { key: "DEEPGRAM_API_KEY", address: ["DEEPGRAM_BASE_URL", "https://api.deepgram.com"] } as const;
const OPENAI = { key: "OPENAI_API_KEY", address: ["OPENAI_BASE_URL", "https://api.openai.com/v1"] } as const;
const GOOGLE = {
  key: "GOOGLE_API_KEY",
  address: ["GOOGLE_BASE_URL", "https://generativelanguage.googleapis.com/v1beta"],
} as const;

/** The standard speech providers, by the name in an agent's configuration. To add one, add its row. */
const STT_PROVIDERS: Providers<SpeechToText> = {
  DEEPGRAM: { ...DEEPGRAM, create: deepgramSpeechToText },
  ASSEMBLYAI: {
    key: "ASSEMBLYAI_API_KEY",
    address: ["ASSEMBLYAI_BASE_URL", "https://streaming.assemblyai.com"],
    create: assemblyAiSpeechToText,
  },
};
const TTS_PROVIDERS: Providers<TextToSpeech> = {
  ELEVENLABS: {
    key: "ELEVENLABS_API_KEY",
    address: ["ELEVENLABS_BASE_URL", "https://api.elevenlabs.io"],
    create: elevenLabsTextToSpeech,
  },
  CARTESIA: {
    key: "CARTESIA_API_KEY",
    address: ["CARTESIA_BASE_URL", "https://api.cartesia.ai"],
    create: cartesiaTextToSpeech,
  },
  DEEPGRAM: { ...DEEPGRAM, create: deepgramTextToSpeech },
  OPENAI: { ...OPENAI, create: openAiTextToSpeech },
  // A different service from Google's models.
  GOOGLE: {
    ...GOOGLE,
    address: ["GOOGLE_TTS_BASE_URL", "https://texttospeech.googleapis.com/v1"],
    create: googleTextToSpeech,
  },
};
const STS_PROVIDERS: Providers<SpeechToSpeech> = {
  OPENAI: { ...OPENAI, create: openAiSpeechToSpeech },
  GOOGLE: { ...GOOGLE, create: googleSpeechToSpeech },
};

const ALL: readonly Provider<unknown>[] = [STT_PROVIDERS, TTS_PROVIDERS, STS_PROVIDERS].flatMap((providers) =>
  Object.values<Provider<unknown>>(providers),
);

/** The variables that hold the providers' keys and addresses. */
export const CREDENTIAL_VARIABLES: Readonly<Record<string, ValidatorSpec<string>>> = Object.fromEntries(
  ALL.flatMap(({ key, address: [variable, baseUrl] }) => [
    [key, str({ default: "" })],
    [variable, url({ default: baseUrl })],
  ]),
);

export interface SpeechSettings {
  /** The values of `CREDENTIAL_VARIABLES`. */
  variables: Readonly<Record<string, string>>;
  /** The `fetch` for addresses that users set. */
  guardedFetch: typeof fetch;
  /** For tests. */
  times?: Partial<Times>;
}

/** The standard providers of each kind, and whether the operator has a key for each. */
export function speechSetup({ variables }: Pick<SpeechSettings, "variables">) {
  const setups = (providers: Providers<unknown>) =>
    Object.entries(providers).map(
      ([providerName, { key }]): ProviderSetup => ({
        providerName,
        keyVariable: key,
        isReady: (variables[key] ?? "") !== "",
      }),
    );
  return { stt: setups(STT_PROVIDERS), tts: setups(TTS_PROVIDERS), sts: setups(STS_PROVIDERS) };
}

/** @throws ServiceError condition, naming the variable, when the provider has no credential */
export function selectSpeechToText(
  { providerName, modelName, endpoint }: Pick<SttConfig, "providerName" | "modelName" | "endpoint">,
  settings: SpeechSettings,
): SpeechToText {
  if (providerName === "CUSTOM_STT")
    return customSpeechToText(customAccess("stt", providerName, endpoint, settings), settings.guardedFetch);
  return select("speech-to-text", STT_PROVIDERS, providerName, modelName, settings);
}

/** @throws ServiceError as `selectSpeechToText` */
export function selectTextToSpeech(
  { providerName, modelName, endpoint }: Pick<TtsConfig, "providerName" | "modelName" | "endpoint">,
  settings: SpeechSettings,
): TextToSpeech {
  if (providerName === "CUSTOM_TTS")
    return customTextToSpeech(customAccess("tts", providerName, endpoint, settings), settings.guardedFetch);
  return select("text-to-speech", TTS_PROVIDERS, providerName, modelName ?? "", settings);
}

/** @throws ServiceError as `selectSpeechToText` */
export function selectSpeechToSpeech(
  { providerName, modelName }: Pick<StsConfig, "providerName" | "modelName">,
  settings: SpeechSettings,
): SpeechToSpeech {
  return select("speech-to-speech", STS_PROVIDERS, providerName, modelName, settings);
}

function select<Speech>(
  kind: string,
  providers: Providers<Speech>,
  name: string,
  model: string,
  { variables, times }: SpeechSettings,
): Speech {
  const provider = Object.hasOwn(providers, name) ? providers[name] : undefined;
  if (!provider) {
    const known = Object.keys(providers).join(", ");
    throw new ServiceError("condition", `${name} is not a ${kind} provider of this installation: use ${known}`);
  }
  const { key, address, create } = provider;
  const apiKey = variables[key] ?? "";
  if (apiKey === "")
    throw new ServiceError(
      "condition",
      `The ${kind} provider ${name} is not configured: the operator has to set ${key}`,
    );
  const [variable, standard] = address;
  const baseUrl = (variables[variable] || standard).replace(/\/+$/, "");
  return create({ provider: name, keyName: key, apiKey, baseUrl, times }, model);
}

function customAccess(
  field: string,
  provider: string,
  endpoint: SpeechEndpoint | undefined,
  { times }: SpeechSettings,
): Access {
  if (!endpoint) throw new ServiceError("condition", `The agent's ${provider} has no ${field}.params.base_url: set it`);
  return {
    provider,
    keyName: `${field}.params.api_key`,
    apiKey: endpoint.apiKey ?? "",
    baseUrl: endpoint.baseUrl.replace(/\/+$/, ""),
    times,
  };
}
