import type { Voice as VoiceMessage } from "@parley/proto/parley/agent/v1/agent.ts";
import { GENDERS, nameOf, namesOf } from "@parley/shared/domain/api-names";
import { invalid } from "@parley/shared/errors";
import { checkName } from "@parley/shared/text/name";
import type { ClonedVoice } from "../store/cloned-voices.ts";
import { checkVoiceProvider } from "./catalogue.ts";
import { isLanguageTag } from "./language.ts";

const LANGUAGE_LENGTH_MAX = 35;
const URL_LENGTH_MAX = 2048;

/** Validates a voice that an owner adds. @throws ServiceError invalid at the first field that breaks a rule */
export function readClonedVoice(voice: VoiceMessage): ClonedVoice {
  checkVoiceProvider(voice.providerName);
  checkName("voice_id", voice.voiceId, 200);
  checkName("name", voice.name);
  const gender = nameOf(GENDERS, voice.gender);
  if (!gender) throw invalid("gender", `gender must be one of ${namesOf(GENDERS).join(", ")}`);
  if (voice.language.length > LANGUAGE_LENGTH_MAX || !isLanguageTag(voice.language)) {
    throw invalid("language", "language must be a BCP 47 tag, such as en or en-US");
  }
  if (voice.previewUrl !== undefined && !isWebAddress(voice.previewUrl)) {
    throw invalid("preview_url", `preview_url must be an https:// address of at most ${URL_LENGTH_MAX} characters`);
  }
  const { voiceId, name, language, previewUrl } = voice;
  return { voiceId, name, gender, language, previewUrl: previewUrl ?? null };
}

function isWebAddress(text: string): boolean {
  return text.length <= URL_LENGTH_MAX && URL.parse(text)?.protocol === "https:";
}
