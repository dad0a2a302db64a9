import type { TurnEvent } from "./events.ts";
import { ANSWERED_MS, BLIP_MS, KEYS_MAX, PARTIAL_LAG_MS } from "./settings.ts";
import { type Draft, NOTHING_IGNORED, silentUser, type UserState, wordsOf } from "./state.ts";
import { interrupts } from "./timers.ts";

// What the user does, as the voice detector and the recognition report it.

export function speechBegan(draft: Draft, since: number, now: number): void {
  const { user } = draft;
  draft.quietSince = now;
  if (user.speechSince !== null) return;
  // The answer to a request of the silence before would say that this speech has no words.
  outdate(draft);
  Object.assign(user, { speechSince: since, isDismissed: false, isFinalized: false });
  user.unheardSince ??= since;
  user.startedAt ??= since;
}

export function speechEnded(draft: Draft, since: number, now: number): void {
  const { user } = draft;
  draft.quietSince = now;
  if (user.speechSince === null) return;
  if (since - user.speechSince < BLIP_MS && user.unheardSince === user.speechSince) user.unheardSince = null;
  // An answer to an earlier request may lack the last words.
  outdate(draft);
  Object.assign(user, { speechSince: null, isDismissed: false, silentSince: since });
}

/** Returns whether the words interrupt the agent. */
export function heardWords(
  draft: Draft,
  { type, text: given }: Extract<TurnEvent, { type: "partial" | "final" }>,
  now: number,
): boolean {
  const { user, reply } = draft;
  recognitionLives(draft, now);
  const before = wordsOf(user);
  const text = user.answered ? beyond(given.trim(), user.answered, now) : given.trim();
  if (type === "partial") user.partial = text;
  else {
    if (text !== "") user.said = user.said === "" ? text : `${user.said} ${text}`;
    user.partial = "";
    user.answered = null;
  }
  const words = wordsOf(user);
  if (words === before) return false;
  draft.quietSince = now;
  user.startedAt ??= now - PARTIAL_LAG_MS;
  // The last words of a voice that has ended come late: only the detector tells when that was.
  if (type === "partial" || user.silentSince === null) user.wordsAt = now;
  if (type === "partial") user.isFinalized = false;
  return reply !== null && interrupts(user, reply);
}

/** Returns whether no more keys will come: after a #, which is not part of what was typed unless it is alone. */
export function pressed({ user }: Draft, key: string, now: number): boolean {
  const isEnd = key === "#" && user.keys !== "";
  if (!isEnd) user.keys += key;
  user.keysAt = now;
  user.startedAt ??= now;
  return key === "#" || user.keys.length >= KEYS_MAX;
}

/** Returns whether the recognition has shown that speech which the detector still hears has no more words: the turn has ended. */
export function finalized(draft: Draft, now: number): boolean {
  const { user } = draft;
  const asked = user.finalizing;
  recognitionLives(draft, now);
  // It may be about to say the words again, if it is an answer in place of one that did not come.
  if (user.answered) user.answered = { ...user.answered, until: Math.min(now, user.answered.until) };
  if (draft.outdated > 0) {
    draft.outdated--;
    return false;
  }
  user.finalizing = null;
  if (!asked) return false;
  const words = wordsOf(user);
  if (user.speechSince !== null) return words !== "" && words === asked.words;
  Object.assign(user, { isFinalized: true, finalUntil: asked.since });
  if (words === "") hasNoWords(draft);
  return false;
}

/** Asks the recognition for its result so far. */
export function finalize({ user, effects }: Draft, now: number): void {
  user.finalizing = { since: now, words: wordsOf(user) };
  effects.push({ type: "finalize" });
}

/** Continues with the words that are known. */
export function giveUpFinalize(draft: Draft): void {
  const { user } = draft;
  outdate(draft);
  if (user.speechSince !== null) return;
  if (wordsOf(user) === "") hasNoWords(draft);
  else user.isFinalized = true;
}

/** What the detector took for the user was a noise. */
function hasNoWords({ user }: Draft): void {
  user.silentSince = null;
  if (user.keys === "") user.startedAt = null;
}

/** Whatever the recognition answers to a request under way, it is not about what the user says from now on. */
function outdate(draft: Draft): void {
  if (draft.user.finalizing) draft.outdated++;
  draft.user.finalizing = null;
}

/** The user has said or pressed something that is to be answered. */
export function spoke(draft: Draft): void {
  draft.userSpoke = true;
  draft.greeted = true;
  draft.reminders = 0;
}

/** Forgets the user's words and voice. */
export function forget(draft: Draft): void {
  outdate(draft);
  draft.user = silentUser();
  if (draft.model) Object.assign(draft.model, { hearsSince: null, voiceSince: null, ignored: NOTHING_IGNORED });
}

/** Forgets the words so far: their turn is over, and what is left of their voice interrupts nobody. */
export function beginTurn(draft: Draft, now: number): void {
  const { speechSince, unheardSince, partial, answered } = draft.user;
  outdate(draft);
  const unsure = [answered?.text ?? "", partial].filter((text) => text !== "").join(" ");
  draft.user = {
    ...silentUser(),
    speechSince,
    unheardSince,
    isDismissed: speechSince !== null,
    answered: unsure === "" ? null : { text: unsure, until: now + ANSWERED_MS },
  };
}

/**
 * What a text says beyond words that were answered, in which the recognition may have corrected some. After a while, only a text that
 * extends the same words repeats them: an utterance that the recognition has never ended.
 */
function beyond(text: string, { text: before, until }: NonNullable<UserState["answered"]>, now: number): string {
  const rest = text.slice(before.length);
  const isSame = text.toLowerCase().startsWith(before.toLowerCase()) && !/^[\p{sc=Latin}\p{N}]/u.test(rest);
  const more = isSame ? rest.replace(/^[\s\p{P}]+/u, "") : null;
  if (now > until) return more || text;
  return more ?? text.split(/\s+/).slice(before.split(/\s+/).length).join(" ");
}

function recognitionLives({ user }: Draft, now: number): void {
  user.unheardSince = user.speechSince === null ? null : now;
}
