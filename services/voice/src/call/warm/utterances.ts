import type { Pcm } from "../../audio/pcm.ts";
import type { ListenOptions, SpeechToText } from "../../speech/stt.ts";
import type { VoiceDetector } from "../../vad/detector.ts";

/** What it takes to hear one party. */
export interface Ears {
  hearing: SpeechToText;
  listening: Omit<ListenOptions, "signal">;
  detector: VoiceDetector;
}

/** One party who is heard. */
interface HeardParty {
  hear(frame: Pcm): void;
  close(): void;
}

/** Tells what a party says, from one pause to the next. @param signal aborted when the call ends */
export function hearParty({ hearing, listening, detector }: Ears, said: (text: string) => void, signal: AbortSignal) {
  let text = "";
  const tell = () => {
    const whole = text;
    text = "";
    if (whole !== "") said(whole);
  };
  const words = hearing.listen({ ...listening, signal }, (event) => {
    if (event.type === "final") text = `${text} ${event.text.trim()}`.trim();
    if (event.type === "end_of_turn" || event.type === "finalized") tell();
  });
  const voice = detector.listen(({ type }) => {
    if (type === "speech_ended" && !hearing.endsTurns) words.finalize();
  });
  return {
    hear: (frame) => {
      words.send(frame);
      voice.send(frame);
    },
    close: () => {
      tell();
      words.close();
      voice.close();
    },
  } satisfies HeardParty;
}
