import { openPhoneAudio, PHONE_HZ } from "@parley/shared/phone/audio";
import { dial } from "@parley/shared/phone/dial";
import { type Recording, recording } from "./recording.ts";

interface CallOptions {
  /** host:port of the stack's SIP. */
  server: string;
  callee: string;
  /** What to say, one line after the other, each when the agent has finished, at PHONE_HZ samples a second. Null to stay and listen. */
  lines: readonly Int16Array[] | null;
  connected(): void;
  /** Hangs up. */
  signal: AbortSignal;
}

const LOOPBACK = "127.0.0.1";
/** The level from which sound is a voice; below it is the noise of a line. */
const VOICE_FROM = 500;
/** How long the agent must be silent before the caller speaks, after it has said something and before. */
const TURN_AFTER_MS = 1_200;
const TURN_ANYWAY_MS = 6_000;
/** The same after the last line, whose answer the caller still listens to. */
const ANSWER_WITHIN_MS = 20_000;

/**
 * Holds a call until either side hangs up; hangs up itself when it has said its lines and heard the answers.
 * @throws NotAnswered
 */
export async function call({ server, callee, lines, connected, signal }: CallOptions): Promise<Recording> {
  const recorded = recording(PHONE_HZ);
  let heardAt: number | null = null;
  const audio = await openPhoneAudio(LOOPBACK, {
    heard: (frame) => {
      recorded.heard(frame);
      if (frame.some((sample) => Math.abs(sample) > VOICE_FROM)) heardAt = performance.now();
    },
    sent: recorded.sent,
  });
  try {
    const { media, ended, hangUp } = await dial({ server, callee, media: audio.at, signal });
    connected();
    audio.connect(media);
    const over = new AbortController();
    void ended.then(() => over.abort());
    signal.addEventListener("abort", () => over.abort(), { once: true });

    /** Waits until the agent has spoken and fallen silent, or is silent for too long. */
    const turn = async (anywayMs: number) => {
      const since = performance.now();
      heardAt = null;
      while (!over.signal.aborted) {
        const now = performance.now();
        if (heardAt === null ? now - since > anywayMs : now - heardAt > TURN_AFTER_MS) return;
        await Bun.sleep(20);
      }
    };
    for (const [at, line] of lines?.entries() ?? []) {
      await turn(at === 0 ? TURN_ANYWAY_MS : ANSWER_WITHIN_MS);
      if (over.signal.aborted) break;
      audio.say(line);
      while (audio.queuedSamples() > 0 && !over.signal.aborted) await Bun.sleep(20);
    }
    if (lines) await turn(ANSWER_WITHIN_MS);
    else
      await new Promise((resolve) =>
        over.signal.aborted ? resolve(null) : over.signal.addEventListener("abort", resolve),
      );
    await hangUp();
    return recorded;
  } finally {
    audio.close();
  }
}
