import type { WarmTransfer } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Logger } from "@parley/shared/log";
import { speakWhole } from "../../speech/speak-whole.ts";
import type { Leg, LegListener } from "../../transport/leg.ts";
import type { CallClock } from "../call-clock.ts";
import type { Voice } from "../pipeline/mouth.ts";
import { NotConnected } from "../port.ts";
import { type Ears, hearParty } from "./utterances.ts";

export interface PersonParts extends Ears {
  /** The agent's, at the moment of the transfer. */
  voice: Voice;
  clock: CallClock;
  log: Logger;
  /** Calls the person. @param signal aborted to give up @throws NotConnected, ServiceError */
  dial(to: string, listener: LegListener, signal: AbortSignal): Promise<Leg>;
  /** Asks the agent's model about the conversation so far. */
  askModel(instruction: string): Promise<string>;
}

/** The person's end of the call. */
export interface Line {
  leg: Leg;
  /** From now on, this hears the person. Called once. */
  hand(to: Pick<LegListener, "heard" | "ended">): void;
}

export type Reached = { outcome: "accepted"; line: Line } | { outcome: NotReached };
export type NotReached = "declined" | "no_answer" | "failed";

/** How long the person may be told what it is about. */
const BRIEFING_MAX_MS = 120_000;

/**
 * Calls a person, tells them what it is about, and waits until they decide. Never rejects.
 * @param over aborted when the call of the user ends
 */
export async function reachPerson(
  parts: PersonParts,
  to: string,
  { briefing, acceptSeconds }: WarmTransfer,
  over: AbortSignal,
): Promise<Reached> {
  const { clock, log } = parts;
  const { promise: decision, resolve: decide } = Promise.withResolvers<"accepted" | NotReached>();
  const givenUp = new AbortController();
  const signal = AbortSignal.any([over, givenUp.signal]);
  const leave = () => decide("failed");
  over.addEventListener("abort", leave, { once: true });
  let told = "";
  let stopTimer = () => {};
  let handed: Pick<LegListener, "heard" | "ended"> | null = null;
  let endedAs: Parameters<LegListener["ended"]>[0] | null = null;

  const judge = async (said: string) => {
    const verdict = await parts.askModel(judgement(told, said)).catch(() => "unclear");
    if (/\baccepted\b/i.test(verdict)) decide("accepted");
    else if (/\bdeclined\b/i.test(verdict)) decide("declined");
  };
  const party = hearParty(parts, (said) => told !== "" && void judge(said), signal);
  const listener: LegListener = {
    heard: (frame) => (handed ?? { heard: party.hear }).heard(frame),
    pressed: (key) => decide(key === "1" ? "accepted" : "declined"),
    reached: () => {
      stopTimer();
      stopTimer = clock.after(acceptSeconds * 1_000, () => decide("no_answer"));
    },
    sending: (frame) => frame,
    ended: (how) => {
      endedAs = how;
      decide("declined");
      handed?.ended(how);
    },
  };

  let leg: Leg | null = null;
  try {
    const written = parts.askModel(instruction(briefing));
    // The person may not be reached at all.
    written.catch(() => {});
    leg = await parts.dial(to, listener, signal);
    stopTimer = clock.after(BRIEFING_MAX_MS, () => decide("failed"));
    const line = leg;
    const brief = async () => {
      told = await written;
      const take = (audio: Int16Array<ArrayBuffer>) => {
        line.play(audio);
        return false;
      };
      const { tts, options } = parts.voice;
      await speakWhole(tts, { sentences: [told], options, take }, signal);
      line.mark("briefed");
    };
    brief().catch((err) => {
      if (!signal.aborted) log.warn({ err }, "a person could not be told what a transfer is about");
      decide("failed");
    });
    const outcome = await decision;
    if (outcome !== "accepted" || endedAs !== null || over.aborted) {
      await line.hangUp().catch(() => {});
      return { outcome: outcome === "accepted" ? "failed" : outcome };
    }
    // What is left of the briefing.
    line.clear();
    return {
      outcome,
      line: {
        leg: line,
        hand: (given) => {
          handed = given;
          if (endedAs !== null) given.ended(endedAs);
        },
      },
    };
  } catch (err) {
    log.warn({ err }, "a person could not be called");
    await leg?.hangUp().catch(() => {});
    return { outcome: err instanceof NotConnected ? OUTCOMES[err.how] : "failed" };
  } finally {
    over.removeEventListener("abort", leave);
    stopTimer();
    givenUp.abort();
    party.close();
  }
}

const OUTCOMES: Readonly<Record<NotConnected["how"], NotReached>> = {
  busy: "declined",
  no_answer: "no_answer",
  cancelled: "failed",
  failed: "failed",
  unreached: "failed",
  left: "declined",
};

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
