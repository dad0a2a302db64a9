import { expect, interrupted, isLast } from "./agent.ts";
import type { Decision, TurnEvent } from "./events.ts";
import { SPEECH_MS } from "./settings.ts";
import { type Draft, type ModelState, NOTHING_IGNORED } from "./state.ts";
import { spoke } from "./user.ts";

// What a speech-to-speech model does by itself, and what the voice detector reports beside it. The model takes turns: the agent stops
// when it hears the user, and the detector only shows whether it hears.

type ModelEvent = Extract<TurnEvent, { type: "user_began" | "user_said" | "speaks" | "done" }>;

export function happens(draft: Draft, event: ModelEvent, now: number): void {
  const { model, reply } = draft;
  if (!model) return;
  // It reacts, so it hears.
  model.ignored = NOTHING_IGNORED;
  switch (event.type) {
    case "user_began":
      return void userBegan(draft, model, now);
    case "user_said":
      return void userSaid(draft, model, event.text, now);
    case "speaks":
      return void speaks(draft, model, now);
    case "done":
      if (reply?.stage === "speaking") reply.isWhole = true;
      return;
  }
}

function userBegan(draft: Draft, model: ModelState, now: number): void {
  if (!heedsUser(draft)) return;
  const { reply, greeted } = draft;
  interrupted(draft, now);
  // A greeting that nobody has heard yet is not over.
  draft.greeted = greeted || reply?.stage === "speaking";
  Object.assign(model, { hearsSince: now, owesSince: null });
}

function userSaid(draft: Draft, model: ModelState, text: string, now: number): void {
  if (!heedsUser(draft)) return;
  draft.effects.push({ type: "note", text });
  model.hearsSince = null;
  draft.quietSince = now;
  spoke(draft);
  // It has the results too, and answers them together with this.
  draft.hasResults = false;
  // The model may have reported this after it began to answer.
  if (draft.reply?.stage !== "speaking") owe(draft, now);
}

function speaks(draft: Draft, model: ModelState, now: number): void {
  if (!mayAnswer(draft)) return;
  Object.assign(model, { hearsSince: null, owesSince: null });
  if (!draft.reply) expect(draft, "listen", now);
  if (draft.reply) draft.reply.isWhole = false;
}

/** A model that calls a tool has heard the user, and answers when it has the result. */
export function callsTool(draft: Draft, model: ModelState, now: number): void {
  Object.assign(model, { hearsSince: null, ignored: NOTHING_IGNORED });
  if (!draft.reply && mayAnswer(draft)) expect(draft, "listen", now);
}

/** The model continues by itself with the result of a tool, unless the user speaks. */
export function hasResult(draft: Draft, model: ModelState, next: Decision | null, now: number): void {
  if (draft.reply && isLast(draft.reply)) return;
  if (model.hearsSince !== null || draft.isMuted) {
    draft.hasResults = true;
    return;
  }
  if (draft.reply?.stage === "speaking") model.owesSince = now;
  else owe(draft, now);
  if (next !== null && draft.reply) draft.reply.next = next;
}

/** The model owes an answer from now on. */
function owe(draft: Draft, now: number): void {
  if (draft.reply) Object.assign(draft.reply, { since: now, soundUntil: now });
  else if (mayAnswer(draft)) expect(draft, "listen", now);
}

/** Whether what the user says still counts: a machine says nothing to the agent, and a last apology is heard to its end. */
function heedsUser({ machine, reply }: Draft): boolean {
  return machine === null && reply?.kind !== "apology";
}

/** Whether the agent may speak: not while the user is connected elsewhere, a machine greets, or it is muted but for an operator's words. */
function mayAnswer({ transferringSince, machine, isMuted, reply }: Draft): boolean {
  if (isMuted && reply === null) return false;
  return transferringSince === null && (machine === null || machine.isReady);
}

/** What the model took for the user had no words. */
export function hearsNobody(draft: Draft, now: number): void {
  if (!draft.model) return;
  draft.model.hearsSince = null;
  draft.quietSince = now;
}

export function speechBegan({ model }: Draft, since: number): void {
  if (model) model.voiceSince = since;
}

/** Speech that is long enough to have words in it must be heard by the model. */
export function speechEnded({ model, reply, isMuted }: Draft, since: number, now: number): void {
  if (!model || model.voiceSince === null) return;
  const isSpeech = since - model.voiceSince >= SPEECH_MS;
  Object.assign(model, { voiceSince: null, silentSince: since });
  if (!isSpeech || reply || isMuted || model.hearsSince !== null) return;
  const { count, since: first } = model.ignored;
  model.ignored = { count: count + 1, since: count === 0 ? now : first };
}
