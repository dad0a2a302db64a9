import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import { type SpeechSettings, speechSetup } from "../speech/providers.ts";

type Handler = NonNullable<Handlers<typeof VoiceServiceService>["getSpeechSetup"]>;

/** The same for all owners: what the operator has set up. */
export function getSpeechSetup(settings: Pick<SpeechSettings, "variables">): Handler {
  const setup = speechSetup(settings);
  return async () => setup;
}
