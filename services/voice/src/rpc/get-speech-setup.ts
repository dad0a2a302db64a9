import type { Handler } from "../feature.ts";
import { type SpeechSettings, speechSetup } from "../speech/providers.ts";

/** The same for all owners: what the operator has set up. */
export function getSpeechSetup(settings: Pick<SpeechSettings, "variables">): Handler<"getSpeechSetup"> {
  const setup = speechSetup(settings);
  return async () => setup;
}
