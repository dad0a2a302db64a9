import { isAcknowledgement, isFarewell, silenceAfter } from "./phrases.ts";
import {
  APOLOGY_MS,
  BARGE_IN_MS,
  DEAD_AIR_MS,
  FAREWELL_MS,
  FINALIZE_WAIT_MS,
  IGNORED_MAX,
  KEYS_PAUSE_MS,
  MACHINE_MS,
  PARTIAL_LAG_MS,
  PROBE_HELD_MS,
  PROBE_MS,
  PROVIDER_END_MS,
  RESULT_PAUSE_MS,
  RESUME_MS,
  RESUME_SPEAKING_MS,
  SILENT_CALL_MS,
  TRANSFER_MS,
  VOICE_MAX_MS,
  WORDS_WITHIN_MS,
} from "./settings.ts";
import { messageOf, type Reply, type TurnState, type UserState, wordsOf } from "./state.ts";
import { firstLost, nextFiller, waits } from "./tools.ts";

// Each function returns when something happens by itself; null if it does not as things stand.

/** The share of the silence that ends a turn after which the recognition is asked for the last words. */
const FINALIZE_AFTER = 0.4;

/** The user has spoken over the agent for so long that it stops. */
export function bargeInAt({ user, reply }: TurnState): number | null {
  if (!reply || reply.stage === "held" || reply.kind === "apology") return null;
  if (user.speechSince === null || user.isDismissed || (wordsOf(user) !== "" && !interrupts(user, reply))) return null;
  return user.speechSince + BARGE_IN_MS;
}

/** Whether the user's words stop the agent permanently: "mm-hm" does not, nor "bye" while it says goodbye. */
export function interrupts(user: UserState, reply: Reply): boolean {
  const words = wordsOf(user);
  if (words === "" || reply.kind === "apology") return false;
  return !(reply.next === "listen" ? isAcknowledgement(words) : isFarewell(words));
}

/** The agent resumes after a stop that turned out to be unnecessary. */
export function resumeAt({ user, reply }: TurnState): number | null {
  if (reply?.stage !== "held") return null;
  if (user.speechSince === null && user.isFinalized) return reply.since;
  const isUnknown = user.speechSince !== null && user.unheardSince !== null && user.unheardSince <= reply.since;
  return reply.since + (isUnknown ? RESUME_SPEAKING_MS : RESUME_MS);
}

/** The recognition is asked for the words before a silence, unless it ends turns by itself. */
export function finalizeAt({ user, reply, settings }: TurnState): number | null {
  if (user.finalizing || user.isFinalized || user.speechSince !== null) return null;
  if (settings.endsTurns && reply?.stage !== "held") return null;
  const since = silentSince(user);
  if (since === null) return null;
  // Words that seem unfinished may be so only because the last ones have not come.
  return since + FINALIZE_AFTER * Math.min(settings.silenceMs, silenceAfter(wordsOf(user), settings.silenceMs));
}

/** The recognition is asked whether it still works. */
export function probeAt({ user, reply }: TurnState): number | null {
  if (user.unheardSince === null || user.finalizing) return null;
  const probe = user.unheardSince + PROBE_MS;
  const isSoon = reply?.stage === "held" && user.speechSince !== null && user.unheardSince <= reply.since;
  return isSoon ? Math.min(probe, reply.since + PROBE_HELD_MS) : probe;
}

/** The recognition does not answer: its words so far are used. */
export function finalizeGivenUpAt({ user: { finalizing, speechSince }, settings }: TurnState): number | null {
  const { finalizeWaitMs = FINALIZE_WAIT_MS } = settings;
  return finalizing && finalizing.since + (speechSince === null ? finalizeWaitMs : PROBE_MS);
}

/**
 * The user's turn has ended.
 * @param behindMs how far the voice detector is behind the audio: the silence may be over already
 */
export function turnEndAt({ user, settings }: TurnState, behindMs: number): number | null {
  // A user who types keys speaks again only when done; what they said before may still be on its way.
  if (user.keysAt !== null) return user.finalizing && user.speechSince === null ? null : user.keysAt + KEYS_PAUSE_MS;
  const words = wordsOf(user);
  const since = silentSince(user);
  if (words === "" || user.speechSince !== null || since === null) return null;
  if (settings.endsTurns) return since + PROVIDER_END_MS + behindMs;
  if (!user.isFinalized) return null;
  const end = since + silenceAfter(words, settings.silenceMs);
  // The recognition may have heard words behind the silence that a late detector knows.
  return behindMs === 0 ? end : Math.max(end, user.finalUntil) + behindMs;
}

/** A user who says nothing is reminded, or the call ends. */
export function idleAt({ user, reply, settings, quietSince, model, tools }: TurnState): number | null {
  if (reply || tools.length > 0 || messageOf(user) !== "" || (model && model.hearsSince !== null)) return null;
  return quietSince + (settings.idle?.afterMs ?? SILENT_CALL_MS);
}

/** The agent has had nothing to hear, or the user has not been heard, for too long. */
export function deadAirAt(state: TurnState): number | null {
  const { user, reply, model } = state;
  if (waits(state)) return null;
  if (reply) return reply.soundUntil + (model ? patienceMs(reply) : DEAD_AIR_MS);
  if (model) return model.ignored.count < IGNORED_MAX ? null : model.ignored.since + DEAD_AIR_MS;
  return user.unheardSince === null ? null : user.unheardSince + DEAD_AIR_MS;
}

/** How long a speech-to-speech model may be silent. It has time to apologize within DEAD_AIR_MS, because only it could. */
function patienceMs({ kind }: Reply): number {
  return kind === "apology" ? APOLOGY_MS : DEAD_AIR_MS - APOLOGY_MS;
}

/** A speech-to-speech model that has decided to end the call, or to transfer the user, does so without a word. */
export function farewellAt(state: TurnState): number | null {
  const { reply, model } = state;
  if (!model || waits(state)) return null;
  if (reply?.kind !== "answer" || reply.stage !== "thinking" || reply.next === "listen") return null;
  return reply.since + FAREWELL_MS;
}

/** What a speech-to-speech model took for the user had no words. */
export function wordlessAt({ model }: TurnState): number | null {
  if (!model || model.hearsSince === null) return null;
  const { hearsSince, voiceSince, silentSince } = model;
  if (voiceSince !== null) return Math.max(hearsSince, voiceSince) + VOICE_MAX_MS;
  return Math.max(hearsSince, silentSince) + WORDS_WITHIN_MS;
}

/** Something is said while a tool runs, once the agent is silent. */
export function fillerAt(state: TurnState): number | null {
  const { reply } = state;
  const next = nextFiller(state);
  return next && reply && reply.stage !== "held" ? Math.max(next.at, reply.soundUntil) : null;
}

/** Nobody speaks, so results that nobody waits for are told. */
export function resultAt({ hasResults, reply, model, user, quietSince }: TurnState): number | null {
  if (!hasResults || reply || messageOf(user) !== "") return null;
  const isSpeaking = model ? model.hearsSince !== null : user.speechSince !== null && !user.isDismissed;
  return isSpeaking ? null : quietSince + RESULT_PAUSE_MS;
}

/** Nobody has reported the end of a tool in its time: whoever ran it is gone. */
export function toolLostAt(state: TurnState): number | null {
  return firstLost(state)?.lostAt ?? null;
}

export function transferGivenUpAt({ transferringSince, isTransferWarm }: TurnState): number | null {
  return transferringSince === null || isTransferWarm ? null : transferringSince + TRANSFER_MS;
}

/** Nobody has come back to a call on hold. */
export function holdGivenUpAt({ onHoldSince }: TurnState): number | null {
  return onHoldSince === null ? null : onHoldSince + SILENT_CALL_MS;
}

/** The carrier has not reported that the machine is ready, but it may be. */
export function machineReadyAt({ machine }: TurnState): number | null {
  return machine === null || machine.isReady ? null : machine.since + MACHINE_MS;
}

/** The last words come late; where the detector missed the voice, they alone reveal it. */
function silentSince({ silentSince, wordsAt }: UserState): number | null {
  if (wordsAt === null || silentSince === null) return silentSince ?? wordsAt;
  return Math.max(silentSince, wordsAt - PARTIAL_LAG_MS);
}
