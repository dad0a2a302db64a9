import { speakWhole } from "../../speech/speak-whole.ts";
import type { Leg } from "../../transport/leg.ts";
import type { Voice } from "../pipeline/mouth.ts";
import { BRIEFED, type Envoy, type Visit } from "./envoy.ts";
import { type Ears, hearParty } from "./utterances.ts";

interface PipelineEnvoyParts extends Ears {
  /** The agent's, at the moment of the transfer. */
  voice: Voice;
  /** Asks the agent's model about the conversation so far. */
  askModel(instruction: string): Promise<string>;
}

/** The agent's model writes what is said, its voice speaks it, and the model judges what the person answers. */
export function pipelineEnvoy(
  { voice, askModel, ...ears }: PipelineEnvoyParts,
  { briefing, signal, decided, failed }: Visit,
): Envoy {
  const written = askModel(instruction(briefing));
  // The person may not be reached at all.
  written.catch(() => {});
  let told = "";
  const judge = async (said: string) => {
    const verdict = await askModel(judgement(told, said)).catch(() => "unclear");
    if (/\baccepted\b/i.test(verdict)) decided("accepted");
    else if (/\bdeclined\b/i.test(verdict)) decided("declined");
  };
  const party = hearParty(ears, (said) => told !== "" && void judge(said), signal);
  const brief = async (leg: Leg) => {
    told = await written;
    const take = (audio: Int16Array<ArrayBuffer>) => {
      leg.play(audio);
      return false;
    };
    await speakWhole(voice.tts, { sentences: [told], options: voice.options, take }, signal);
    leg.mark(BRIEFED);
  };
  return { meet: (leg) => void brief(leg).catch(failed), hear: party.hear, close: party.close };
}

function instruction(briefing: string): string {
  return `You are the assistant of the record, and have called a colleague to whom the user is to be connected. Write what you say to the \
colleague, in one to four short spoken sentences without markup, in the language of the conversation. Say what you were told to: \
${briefing}
End by asking the colleague to press 1 or to say yes to take the call, and to press any other key or to say no to decline.`;
}

function judgement(told: string, said: string): string {
  return `A person was called and told: ${JSON.stringify(told)}
They answered: ${JSON.stringify(said)}
Do they agree to take the call? Answer with one word: accepted, declined or unclear. A voicemail or a recording is declined. A greeting or \
a question is unclear.`;
}
