import type { EndReason, Outcome, TurnEvent } from "./events.ts";
import { APOLOGY_MS, DEAD_AIR_MS } from "./settings.ts";
import { type Draft, messageOf, type Next, NOTHING_IGNORED, type Reply } from "./state.ts";
import * as tools from "./tools.ts";
import * as user from "./user.ts";

// The agent's actions: its replies, from beginning to end, and hanging up.

type ReplyEvent = Extract<TurnEvent, { reply: number }>;

export function replyHappens(draft: Draft, reply: Reply, event: ReplyEvent, now: number): void {
  switch (event.type) {
    case "sound":
      if (reply.stage === "held") return;
      if (reply.stage === "thinking") Object.assign(reply, { stage: "speaking", since: now });
      reply.soundUntil = Math.max(now, reply.soundUntil) + event.ms;
      reply.sound = null;
      return;
    case "answered":
      reply.isWhole = true;
      reply.next = event.next;
      return;
    case "played":
      if (reply.isWhole && reply.stage === "speaking") finish(draft, reply, now);
      return;
    case "failed":
      if (reply.stage === "held") reply.hasFailed = true;
      else fail(draft, reply, now);
      return;
    case "worded":
      reply.isSaid = true;
      return;
    case "delayed":
      if (draft.asksPatience || reply.kind !== "answer" || reply.stage !== "thinking") return;
      draft.asksPatience = true;
      reply.isSaid = true;
      draft.effects.push({ type: "ask_patience", reply: reply.id });
  }
}

export function interrupted(draft: Draft, now: number): void {
  const { reply } = draft;
  if (!reply) return;
  draft.greeted = true;
  dropReply(draft, reply);
  tools.interrupted(draft, reply);
  draft.quietSince = now;
}

export function hold(draft: Draft, now: number): void {
  const { reply } = draft;
  if (!reply) return;
  Object.assign(reply, { stage: "held", since: now, soundUntil: now });
  draft.effects.push({ type: "hold", reply: reply.id });
}

export function resume(draft: Draft, now: number): void {
  const { reply } = draft;
  if (!reply) return;
  user.beginTurn(draft, now);
  if (reply.hasFailed) return void fail(draft, reply, now);
  Object.assign(reply, { stage: "thinking", since: now, soundUntil: now });
  draft.effects.push({ type: "resume", reply: reply.id });
}

/** The reply has been heard, and what was decided follows, unless a speech-to-speech model owes more. */
export function finish(draft: Draft, reply: Reply, now: number): void {
  const { model } = draft;
  draft.effects.push({ type: "finish", reply: reply.id });
  draft.reply = null;
  draft.quietSince = now;
  draft.greeted = true;
  if (reply.kind === "answer") draft.failures = 0;
  if (model && !draft.isMuted && !isLast(reply) && (tools.waits({ ...draft, reply }) || model.owesSince !== null))
    return void expectOn(draft, reply, now);
  if (reply.next === "hang_up") hangUpAfter(draft, reply);
  else if (reply.next === "give_up") hangUp(draft, "ERROR", "failed");
  else if (reply.next === "transfer" || reply.next === "warm_transfer") {
    Object.assign(draft, { transferringSince: now, isTransferWarm: reply.next === "warm_transfer" });
    user.forget(draft);
    draft.effects.push({ type: "transfer" });
  }
}

const ENDED: Partial<Record<Reply["kind"], EndReason>> = { voicemail: "left_message", operator: "operator_ended" };

function hangUpAfter(draft: Draft, { kind }: Reply): void {
  if (kind === "rejection") return void hangUp(draft, "CANCELLED", "rejected");
  hangUp(draft, "SUCCESS", ENDED[kind] ?? "agent_ended");
}

function fail(draft: Draft, reply: Reply, now: number): void {
  if (reply.kind !== "answer" || draft.failures > 0) return void giveUp(draft, now);
  draft.failures++;
  dropReply(draft, reply);
  say(draft, "retry", now, Math.min(now, reply.soundUntil));
}

export function transferFailed(draft: Draft, now: number): void {
  if (draft.transferringSince === null) return;
  draft.transferringSince = null;
  say(draft, "not_transferred", now);
}

/** The user is back with the agent, whose model knows why. */
export function notTaken(draft: Draft, told: string, now: number): void {
  if (draft.transferringSince === null) return;
  Object.assign(draft, { transferringSince: null, quietSince: now });
  begin(draft, "answer", "listen", now);
  draft.effects.push({ type: "tell", reply: draft.replies, text: told });
}

/** Apologizes and hangs up; hangs up at once after an apology, and where its voice has been silent for too long already. */
export function giveUp(draft: Draft, now: number): void {
  const { reply } = draft;
  if (reply?.kind === "apology") return void hangUp(draft, "ERROR", "failed");
  const voicedUntil = reply?.isSaid ? Math.min(now, reply.soundUntil) : now - DEAD_AIR_MS + APOLOGY_MS;
  // A speech-to-speech model is given up so early that it has time to apologize (`patienceMs`).
  const heardUntil = draft.model ? now : voicedUntil;
  if (heardUntil + DEAD_AIR_MS <= now) return void hangUp(draft, "ERROR", "failed");
  if (reply) dropReply(draft, reply);
  say(draft, "apology", now, heardUntil);
}

/** @param heardUntil when the user last heard something, if that was before a reply that failed */
export function say(
  draft: Draft,
  kind: Exclude<Reply["kind"], "answer" | "operator">,
  now: number,
  heardUntil = now,
): void {
  begin(draft, kind, AFTER[kind] ?? "listen", now, heardUntil);
  draft.effects.push({ type: "say", reply: draft.replies, kind });
}

/** Says something for an operator, in place of what is being said. */
export function sayFor(draft: Draft, text: string, next: Next, now: number): void {
  interrupted(draft, now);
  begin(draft, "operator", next, now);
  draft.effects.push({ type: "say_for", reply: draft.replies, text });
}

/** Connects the user elsewhere for an operator. */
export function transferFor(draft: Draft, now: number): void {
  interrupted(draft, now);
  Object.assign(draft, { transferringSince: now, isTransferWarm: false });
  user.forget(draft);
  draft.effects.push({ type: "transfer" });
}

/** An operator keeps the agent silent, or no longer. */
export function mute(draft: Draft, isMuted: boolean, now: number): void {
  draft.isMuted = isMuted;
  draft.quietSince = now;
  if (isMuted) interrupted(draft, now);
  if (draft.model) Object.assign(draft.model, { owesSince: null, ignored: NOTHING_IGNORED });
}

const AFTER: Partial<Record<Reply["kind"], Next>> = { apology: "give_up", voicemail: "hang_up", rejection: "hang_up" };

/** Whether nothing can be decided anymore: the call ends after these words. */
export function isLast({ kind }: Reply): boolean {
  return kind in AFTER;
}

/** A speech-to-speech model has owed an answer since then, after which `next` follows. */
export function expect(draft: Draft, next: Next, now: number, since = now): void {
  if (draft.model) draft.model.owesSince = null;
  begin(draft, "answer", next, now);
  if (draft.reply) draft.reply.since = since;
  draft.effects.push({ type: "expect", reply: draft.replies });
}

/** The model owes the rest of a reply, for which its tools run. */
function expectOn(draft: Draft, { id, next }: Reply, now: number): void {
  expect(draft, next, now, draft.model?.owesSince ?? now);
  draft.tools = draft.tools.map((tool) => (tool.reply === id ? { ...tool, reply: draft.replies } : tool));
}

/** Asks for an answer to results that no reply waits for. */
export function answerResults(draft: Draft, now: number): void {
  draft.hasResults = false;
  if (draft.isMuted) return;
  begin(draft, "answer", "listen", now);
  draft.effects.push({ type: "answer_results", reply: draft.replies });
}

export function begin(draft: Draft, kind: Reply["kind"], next: Next, now: number, soundUntil = now): void {
  draft.replies++;
  draft.reply = {
    id: draft.replies,
    kind,
    stage: "thinking",
    since: now,
    soundUntil,
    isSaid: kind !== "answer",
    isWhole: kind !== "answer",
    sound: null,
    hasFailed: false,
    next,
  };
}

export function dropReply(draft: Draft, { id }: Reply): void {
  draft.reply = null;
  draft.effects.push({ type: "interrupt", reply: id });
}

export function hangUp(draft: Draft, outcome: Outcome, reason: EndReason): void {
  if (draft.reply) dropReply(draft, draft.reply);
  const text = messageOf(draft.user);
  if (text !== "") draft.effects.push({ type: "note", text });
  draft.effects.push({ type: "hang_up", outcome, reason });
  draft.over = true;
}
