import type { TtsConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Logger } from "@parley/shared/log";
import { fewAtOnce } from "@parley/shared/shares/few-at-once";
import { durationMs, type Pcm } from "../audio/pcm.ts";
import { spokenSentence } from "../speech/spoken-sentence.ts";
import type { TextToSpeech } from "../speech/tts.ts";
import type { Invite } from "../transport/sip/answering.ts";

/**
 * Answers a call that no agent takes, says the operator's sentence, and hangs up.
 * @returns false if this installation has nothing to say it with: the call is still unanswered
 * @throws ServiceError rate_limited if too many callers of the owner hear it; as `Invite.accept` does
 */
export type Announce = (ownerId: string, invite: Invite) => Promise<boolean>;

interface AnnouncerOptions {
  sentence: string;
  /** The operator's voice, because an owner's would cost the owner money. */
  tts: TtsConfig | undefined;
  /** @throws ServiceError condition when its provider has no credential */
  voiceOf(tts: TtsConfig): TextToSpeech;
  log: Logger;
}

const SPOKEN_WITHIN_MS = 15_000;
const SECONDS_MAX = 60;
/** How long the call lasts after the sentence, for a caller whose phone plays late or not at all. */
const PATIENCE_MS = 3_000;
/** Each announcement takes a port for audio. */
const FEW = { what: "announcements", atOnce: 5, waitingMax: 5 };

export function announcer({ sentence, tts, voiceOf, log }: AnnouncerOptions): Announce {
  const few = fewAtOnce(FEW);
  let spoken: Promise<Pcm> | null = null;

  /** The sentence is always the same, so a provider speaks it once for all callers. */
  const soundOf = async (config: TtsConfig): Promise<Pcm | null> => {
    try {
      spoken ??= spokenSentence(voiceOf(config), config, sentence, SECONDS_MAX, AbortSignal.timeout(SPOKEN_WITHIN_MS));
      return await spoken;
    } catch (err) {
      spoken = null;
      log.warn({ err }, "callers of numbers without an agent hear nothing: PARLEY_DEFAULT_TTS cannot speak");
      return null;
    }
  };

  return (ownerId, invite) =>
    few(ownerId, invite.cancelled, async () => {
      const sound = tts && (await soundOf(tts));
      if (!sound) return false;
      await play(sound, invite);
      return true;
    });
}

/** Resolves when the caller has heard it and is hung up, or has hung up before. */
async function play(sound: Pcm, invite: Invite): Promise<void> {
  const heard = Promise.withResolvers<void>();
  const leg = await invite.accept({
    heard: () => {},
    pressed: () => {},
    reached: () => heard.resolve(),
    sending: (frame) => frame,
    ended: () => heard.resolve(),
  });
  const timer = setTimeout(heard.resolve, durationMs(sound.length) + PATIENCE_MS);
  leg.play(sound);
  leg.mark("end");
  await heard.promise;
  clearTimeout(timer);
  await leg.hangUp();
}
