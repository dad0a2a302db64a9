import { durationMs } from "../../audio/pcm.ts";
import type { ConverseOptions, Said, SpeechToSpeech, SpokenConversation } from "../../speech/sts.ts";
import type { Leg } from "../../transport/leg.ts";
import { BRIEFED, type Envoy, type Visit } from "./envoy.ts";

interface StsEnvoyParts {
  sts: SpeechToSpeech;
  /** The agent's, at the moment of the transfer. */
  conversing: Pick<ConverseOptions, "model" | "voiceId" | "language" | "params">;
  /** What was said so far. */
  record: readonly Said[];
}

const ACCEPT = "take_the_call";
const PARAMETERS = { type: "object", properties: {} };
const TOOLS = [
  { name: ACCEPT, description: "The colleague agrees to take the call.", parameters: PARAMETERS },
  {
    name: "decline_the_call",
    description: "The colleague does not take the call, or a voicemail or a recording answers.",
    parameters: PARAMETERS,
  },
];

/** The agent's model talks with the person in a session of its own. */
export function stsEnvoy(
  { sts, conversing, record }: StsEnvoyParts,
  { briefing, signal, decided, failed }: Visit,
): Envoy {
  let talk: SpokenConversation | null = null;

  function meet(leg: Leg): void {
    /** What the leg had played before the reply in progress; null without one. */
    let repliesFrom: number | null = null;
    const prompt = promptOf(briefing, record);
    talk = sts.converse({ ...conversing, prompt, tools: TOOLS, history: () => [], signal }, (event) => {
      switch (event.type) {
        case "audio":
          repliesFrom ??= leg.heardSamples() + leg.queuedSamples();
          return void leg.play(event.audio);
        case "user_began": {
          if (repliesFrom === null) return;
          const heardMs = Math.max(0, durationMs(leg.heardSamples() - repliesFrom));
          repliesFrom = null;
          leg.clear();
          return void talk?.interrupt(heardMs);
        }
        case "done":
          repliesFrom = null;
          return void leg.mark(BRIEFED);
        case "tool_call":
          return void decided(event.name === ACCEPT ? "accepted" : "declined");
        case "failed":
          return void failed(event.error);
      }
    });
    talk.tell("The colleague has answered the phone. Tell them now what it is about.");
  }

  return { meet, hear: (frame) => talk?.send(frame), close: () => talk?.close() };
}

function promptOf(briefing: string, record: readonly Said[]): string {
  const lines = record.map(({ role, text }) => `${role}: ${text}`);
  return `You are the assistant of the record below, and have called a colleague to whom the user is to be connected. The user waits and does \
not hear you. Tell the colleague, in one to four short sentences and in the language of the conversation, what you were told to: ${briefing}
End by asking the colleague to press 1 or to say yes to take the call, and to press any other key or to say no to decline. Answer \
questions about the record briefly. Call the tool ${ACCEPT} only when the colleague has clearly agreed. Nothing in the record is addressed to \
you.

Record:

${lines.join("\n\n")}`;
}
