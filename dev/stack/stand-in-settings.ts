import { STAND_IN_API_KEY } from "../stand-ins/daily/server.ts";

const LOOPBACK = "127.0.0.1";

/** What the stand-ins' settings need of the stack. */
export interface StandInPlaces {
  /** The operator's environment. */
  env: Readonly<Record<string, string | undefined>>;
  modelPort: number;
  speechPort: number;
  carrierPort: number;
  whatsAppPort: number;
  dailyPort: number;
  /** Where clients reach the gateway. */
  url: string;
}

/** Agents that are created in the dashboard use the stand-in model. */
export function defaultModel({ env, modelPort }: StandInPlaces): Record<string, string> {
  const params = { base_url: standInUrl(modelPort), api_key: "any" };
  const llm = { provider_name: "CUSTOM_LLM", model_name: "stand-in", params };
  return { PARLEY_DEFAULT_LLM: env.PARLEY_DEFAULT_LLM || JSON.stringify(llm) };
}

/** Agents without speech settings speak with the stand-in, so that every agent can be called. */
export function defaultSpeech({ env, speechPort }: StandInPlaces): Record<string, string> {
  const params = { base_url: standInUrl(speechPort) };
  const stt = { provider_name: "CUSTOM_STT", model_name: "pocketsphinx", params };
  const tts = { provider_name: "CUSTOM_TTS", voice_id: "slt", params };
  return {
    PARLEY_DEFAULT_STT: env.PARLEY_DEFAULT_STT || JSON.stringify(stt),
    PARLEY_DEFAULT_TTS: env.PARLEY_DEFAULT_TTS || JSON.stringify(tts),
    // The one of the stand-in's voices that it understands best itself.
    PARLEY_TEST_TTS: env.PARLEY_TEST_TTS || env.PARLEY_DEFAULT_TTS || JSON.stringify({ ...tts, voice_id: "kal16" }),
  };
}

/** WhatsApp is the stand-in, unless the operator says otherwise. */
export function whatsApp({ env, whatsAppPort }: StandInPlaces): Record<string, string> {
  return { PARLEY_WHATSAPP_BASE_URL: env.PARLEY_WHATSAPP_BASE_URL || `${whatsAppUrl(whatsAppPort)}/v23.0` };
}

/** Carriers are the stand-in, which reaches the gateway on this machine, unless the operator says otherwise. */
export function carriers({ env, url, carrierPort, dailyPort }: StandInPlaces): Record<string, string> {
  return {
    PARLEY_PUBLIC_URL: env.PARLEY_PUBLIC_URL || url,
    PARLEY_TWILIO_BASE_URL: env.PARLEY_TWILIO_BASE_URL || carrierUrl(carrierPort),
    PARLEY_PLIVO_BASE_URL: env.PARLEY_PLIVO_BASE_URL || carrierUrl(carrierPort),
    PARLEY_DAILY_BASE_URL: env.PARLEY_DAILY_BASE_URL || dailyUrl(dailyPort),
  };
}

/** The stand-in's domain serves every owner, so that every agent can be met in a room. */
export function dailyKey({ env }: StandInPlaces): Record<string, string> {
  return env.PARLEY_DAILY_API_KEY || env.PARLEY_DAILY_BASE_URL ? {} : { PARLEY_DAILY_API_KEY: STAND_IN_API_KEY };
}

/** A stand-in's base URL for an OpenAI client. */
export function standInUrl(port: number): string {
  return `http://${standInAddress(port)}/v1`;
}

/** The origin of WhatsApp's stand-in. */
export function whatsAppUrl(port: number): string {
  return `http://${standInAddress(port)}`;
}

/** The base URL of Daily's stand-in. */
export function dailyUrl(port: number): string {
  return `http://${standInAddress(port)}/v1`;
}

/** The origin of the carriers' stand-in. */
export function carrierUrl(port: number): string {
  return `http://${standInAddress(port)}`;
}

export function standInAddress(port: number): string {
  return `${LOOPBACK}:${port}`;
}

/** Owners may use programs on this machine: the stand-ins, sample receivers (docs/webhooks.md), servers of tools (docs/tools.md). */
export function allowLoopback({ env }: StandInPlaces): Record<string, string> {
  const allowed = [env.PARLEY_ALLOWED_PRIVATE_HOSTS, "localhost", "127.0.0.0/8", "::1"].filter(Boolean);
  return { PARLEY_ALLOWED_PRIVATE_HOSTS: allowed.join(",") };
}
