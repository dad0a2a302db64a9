import { EgressError } from "@parley/shared/egress/error";
import { isObject } from "@parley/shared/json/json-object";
import type { Pcm } from "../../audio/pcm.ts";
import { wavFile } from "../../audio/wav.ts";
import { type Access, baseLanguage, refusal, unreachable } from "../access.ts";

const REQUEST_MS_MAX = 15_000;
const ANSWER_BYTES_MAX = 64 * 1024;

interface Transcription {
  audio: Pcm;
  model: string;
  language: string | undefined;
}

/**
 * The words in the audio, by OpenAI's operation (developers.openai.com/api/reference/resources/audio/subresources/transcriptions).
 * @throws ServiceError when another attempt would not help, any other error when it may
 */
export async function transcribe(
  access: Access,
  guardedFetch: typeof fetch,
  { audio, model, language }: Transcription,
  signal: AbortSignal,
): Promise<string> {
  const form = new FormData();
  form.set("file", new Blob([wavFile(audio)], { type: "audio/wav" }), "speech.wav");
  form.set("model", model);
  form.set("response_format", "json");
  const tag = baseLanguage(language);
  if (tag) form.set("language", tag);
  try {
    const response = await guardedFetch(`${access.baseUrl}/audio/transcriptions`, {
      method: "POST",
      headers: access.apiKey === "" ? {} : { authorization: `Bearer ${access.apiKey}` },
      body: form,
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS_MAX)]),
    });
    const body = await readText(response);
    const refused = refusal(access, response.status);
    if (refused) throw refused;
    if (!response.ok) throw new Error(`it answered with ${response.status}`);
    return textOf(body);
  } catch (error) {
    if (error instanceof EgressError && error.kind === "forbidden") throw unreachable(access.provider, error.message);
    throw error;
  }
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > ANSWER_BYTES_MAX) throw new Error("its response is too long");
  }
  return text;
}

function textOf(body: string): string {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    answer = null;
  }
  if (!isObject(answer) || typeof answer.text !== "string") throw new Error("its response has no text");
  return answer.text.trim();
}
