import type { Pcm } from "../audio/pcm.ts";
import type { Leg, LegListener } from "../transport/leg.ts";
import type { Line } from "./line.ts";

/** The telephone of a test's user. */
interface TestPhone {
  /** What its end of the call reports to. */
  listener: LegListener;
  /** The same at the agent's end, to know the agent's voice from the sounds behind it. */
  watching(agent: LegListener): LegListener;
  /** The call is connected. */
  use(leg: Leg): void;
  /** Resolves when the line was said and its keys are pressed, or the call has ended; never rejects. */
  say(line: Line): Promise<void>;
  hangUp(): void;
}

/** The level from which sound is a voice; below it is the noise of a line. */
const VOICE_FROM = 500;
const SAID = "said";

/**
 * @param heardVoice called with each frame in which the agent's voice was heard
 * @param left called when either side has hung up
 */
export function testPhone({ heardVoice, left }: { heardVoice(): void; left(): void }): TestPhone {
  let leg: Leg | null = null;
  let isAgentSpeaking = false;
  let said = () => {};

  return {
    listener: {
      heard: (frame) => {
        if (isAgentSpeaking && isVoice(frame)) heardVoice();
      },
      pressed: () => {},
      reached: () => said(),
      sending: (frame) => frame,
      ended: () => {
        said();
        left();
      },
    },
    watching: (agent) => ({
      ...agent,
      sending: (frame, inMs) => {
        isAgentSpeaking = frame !== null;
        return agent.sending(frame, inMs);
      },
    }),
    use: (given) => {
      leg = given;
    },
    say: async (line) => {
      if (line.audio.length > 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        said = resolve;
        leg?.play(line.audio);
        leg?.mark(SAID);
        await promise;
      }
      // Pressed in vain if the call has ended.
      if (line.keys !== "") await leg?.press(line.keys).catch(() => {});
    },
    hangUp: () => void leg?.hangUp(),
  };
}

function isVoice(frame: Pcm): boolean {
  return frame.some((sample) => Math.abs(sample) >= VOICE_FROM);
}
