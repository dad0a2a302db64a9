import * as agent from "./agent.ts";
import type { Decision, Effect, TurnEvent } from "./events.ts";
import * as model from "./model.ts";
import { type Draft, messageOf, type TurnState, wordsOf } from "./state.ts";
import * as timers from "./timers.ts";
import * as tools from "./tools.ts";
import * as user from "./user.ts";

interface Turned {
  state: TurnState;
  /** To be carried out in this order. */
  effects: Effect[];
}

/**
 * Takes turns: what the agent does when something happens. A pure function; the same events at the same times have the same effects.
 * @param now milliseconds of a monotonic clock
 * @param behindMs how far the voice detector is behind the audio
 */
export function takeTurn(state: TurnState, event: TurnEvent, now: number, behindMs = 0): Turned {
  if (state.over) return { state, effects: [] };
  const draft: Draft = {
    ...state,
    user: { ...state.user },
    reply: state.reply && { ...state.reply },
    model: state.model && { ...state.model },
    effects: [],
  };
  passTime(draft, now, behindMs);
  if (!draft.over && isHeeded(draft, event)) happen(draft, event, now);
  passTime(draft, now, behindMs);
  const { effects, ...next } = draft;
  return { state: next, effects };
}

/**
 * When `time` is to be reported next, by a voice detector that is not behind; null if nothing happens by itself anymore. In the past, if
 * something waits for a detector that is.
 */
export function dueAt(state: TurnState): number | null {
  if (state.over) return null;
  const due = TIMERS.map((timer) => timeOf(timer, state, 0)).filter((at) => at !== null);
  return due.length === 0 ? null : Math.min(...due);
}

const ENDS_TRANSFER = new Set<TurnEvent["type"]>(["left", "transfer_failed", "not_taken"]);
/** Without `finalized`, whose requests and answers are counted. */
const OF_USER = new Set<TurnEvent["type"]>([
  "speech_began",
  "speech_ended",
  "partial",
  "final",
  "end_of_turn",
  "recognition_failed",
  "pressed",
]);

const ALWAYS = new Set<TurnEvent["type"]>([
  "put_on_hold",
  "taken_off_hold",
  // A speech-to-speech model reports late what the user said before.
  "user_began",
  "user_said",
  "speaks",
  "done",
  "tool_started",
  "tool_ended",
  "background_result",
]);

function isHeeded({ transferringSince, onHoldSince, machine }: Draft, { type }: TurnEvent): boolean {
  if (ALWAYS.has(type)) return true;
  if (transferringSince !== null) return ENDS_TRANSFER.has(type);
  return (machine === null && onHoldSince === null) || !OF_USER.has(type);
}

interface TurnTimer {
  at(state: TurnState, behindMs: number): number | null;
  /** Must lead to a state in which `at` is later, or null. */
  fire(draft: Draft, now: number): void;
}

/** If several are due at the same time, the first in this order fires first. */
const TIMERS: readonly TurnTimer[] = [
  { at: timers.transferGivenUpAt, fire: agent.transferFailed },
  { at: timers.holdGivenUpAt, fire: leaveSilentUser },
  { at: timers.machineReadyAt, fire: leaveMessage },
  { at: timers.toolLostAt, fire: toolLost },
  { at: timers.farewellAt, fire: endWithoutWords },
  { at: timers.deadAirAt, fire: breakDeadAir },
  { at: timers.wordlessAt, fire: model.hearsNobody },
  { at: timers.finalizeGivenUpAt, fire: user.giveUpFinalize },
  { at: timers.turnEndAt, fire: endUserTurn },
  { at: timers.bargeInAt, fire: agent.hold },
  { at: timers.resumeAt, fire: agent.resume },
  { at: timers.finalizeAt, fire: user.finalize },
  { at: timers.probeAt, fire: user.finalize },
  { at: timers.fillerAt, fire: tools.fill },
  { at: timers.resultAt, fire: agent.answerResults },
  { at: timers.idleAt, fire: remind },
];

function passTime(draft: Draft, now: number, behindMs: number): void {
  while (!draft.over) {
    const due = TIMERS.find((timer) => {
      const at = timeOf(timer, draft, behindMs);
      return at !== null && at <= now;
    });
    if (!due) return;
    due.fire(draft, now);
  }
}

/** During a transfer, on hold, or during a machine's greeting, the agent takes no turns. */
function timeOf({ at }: TurnTimer, state: TurnState, behindMs: number): number | null {
  if (state.transferringSince !== null) return at === timers.transferGivenUpAt ? at(state, behindMs) : null;
  if (state.onHoldSince !== null) return at === timers.holdGivenUpAt ? at(state, behindMs) : null;
  if (state.machine !== null && !state.machine.isReady)
    return at === timers.machineReadyAt ? at(state, behindMs) : null;
  return at(state, behindMs);
}

function happen(draft: Draft, event: TurnEvent, now: number): void {
  switch (event.type) {
    case "connected":
      draft.quietSince = now;
      if (event.isRejected) reject(draft, now);
      else if (event.greets) agent.say(draft, "greeting", now);
      else draft.greeted = true;
      return;
    case "speech_began":
      return void (draft.model ? model : user).speechBegan(draft, now - event.agoMs, now);
    case "speech_ended":
      return void (draft.model ? model : user).speechEnded(draft, now - event.agoMs, now);
    case "partial":
    case "final":
      if (user.heardWords(draft, event, now)) agent.interrupted(draft, now);
      return;
    case "finalized":
      if (user.finalized(draft, now) && draft.user.keys === "") endUserTurn(draft, now);
      return;
    case "end_of_turn":
      if (wordsOf(draft.user) !== "" && draft.user.keys === "") endUserTurn(draft, now);
      return;
    case "pressed":
      return void pressed(draft, event.key, now);
    case "user_began":
    case "user_said":
    case "speaks":
    case "done":
      return void model.happens(draft, event, now);
    case "tool_started":
      if (draft.model) model.callsTool(draft, draft.model, now);
      return void tools.started(draft, event, now);
    case "tool_ended":
      return void toolEnded(draft, event.call, event.next, now);
    case "background_result":
      draft.hasResults = true;
      return;
    case "recognition_failed":
      return void agent.giveUp(draft, now);
    case "transfer_failed":
      return void agent.transferFailed(draft, now);
    case "not_taken":
      return void agent.notTaken(draft, event.told, now);
    case "put_on_hold":
      return void putOnHold(draft, now);
    case "taken_off_hold":
      return void takenOffHold(draft, event.queuedMs, now);
    case "machine":
      return void machineAnswered(draft, now);
    case "machine_ready":
      machineAnswered(draft, now);
      return void leaveMessage(draft, now);
    case "operator_says":
      return void agent.sayFor(draft, event.text, event.next, now);
    case "muted":
      return void agent.mute(draft, event.isMuted, now);
    case "operator_transfers":
      return void agent.transferFor(draft, now);
    case "operator_ends":
      return void agent.hangUp(draft, "SUCCESS", "operator_ended");
    case "left": {
      const hasTalked = draft.machine === null && (draft.greeted || draft.userSpoke);
      return void agent.hangUp(draft, hasTalked ? "SUCCESS" : "HUNG_UP_EARLY", event.reason ?? "user_left");
    }
    case "time":
      return;
    default:
      if (draft.reply?.id === event.reply) agent.replyHappens(draft, draft.reply, event, now);
  }
}

function pressed(draft: Draft, key: string, now: number): void {
  draft.quietSince = now;
  const isEnd = user.pressed(draft, key, now);
  // A pressed key always interrupts; only a last apology continues.
  if (draft.reply?.kind !== "apology") agent.interrupted(draft, now);
  if (isEnd) endUserTurn(draft, now);
}

function endUserTurn(draft: Draft, now: number): void {
  const text = messageOf(draft.user);
  user.beginTurn(draft, now);
  // A speech-to-speech model may have begun to speak by itself while the user pressed keys.
  if (draft.model && draft.reply?.kind !== "apology") agent.interrupted(draft, now);
  // Only acknowledgements are left then, or words during a last apology.
  if (draft.reply) return;
  user.spoke(draft);
  if (draft.isMuted) {
    draft.quietSince = now;
    draft.effects.push({ type: "note", text });
    return;
  }
  draft.hasResults = false;
  agent.begin(draft, "answer", "listen", now);
  draft.effects.push({ type: "ask", reply: draft.replies, text });
}

function putOnHold(draft: Draft, now: number): void {
  if (draft.onHoldSince !== null) return;
  draft.onHoldSince = now;
  const text = messageOf(draft.user);
  if (text !== "") draft.effects.push({ type: "note", text });
  user.forget(draft);
}

function takenOffHold(draft: Draft, queuedMs: number, now: number): void {
  if (draft.onHoldSince === null) return;
  draft.onHoldSince = null;
  draft.quietSince = now;
  if (draft.machine && !draft.machine.isReady) draft.machine = { ...draft.machine, since: now };
  if (draft.reply) Object.assign(draft.reply, { since: now, soundUntil: now + queuedMs });
}

/** Says why, and listens no more than to a machine. */
function reject(draft: Draft, now: number): void {
  draft.machine = { since: now, isReady: true };
  agent.say(draft, "rejection", now);
}

function machineAnswered(draft: Draft, now: number): void {
  if (draft.machine !== null) return;
  if (draft.reply) agent.dropReply(draft, draft.reply);
  user.forget(draft);
  draft.machine = { since: now, isReady: false };
}

function leaveMessage(draft: Draft, now: number): void {
  if (draft.machine === null || draft.machine.isReady) return;
  draft.machine = { ...draft.machine, isReady: true };
  agent.say(draft, "voicemail", now);
}

function toolEnded(draft: Draft, call: string, next: Decision | null, now: number): void {
  const tool = tools.ended(draft, call, now);
  if (!tool) return;
  if (draft.model) model.hasResult(draft, draft.model, next, now);
  else tools.answered(draft, tool, now);
}

function toolLost(draft: Draft, now: number): void {
  const tool = tools.firstLost(draft);
  if (tool) toolEnded(draft, tool.call, null, now);
}

function endWithoutWords(draft: Draft, now: number): void {
  if (draft.reply) agent.finish(draft, draft.reply, now);
}

function breakDeadAir(draft: Draft, now: number): void {
  draft.user.unheardSince = null;
  agent.giveUp(draft, now);
}

function remind(draft: Draft, now: number): void {
  // An operator may be reading.
  if (draft.isMuted) {
    draft.quietSince = now;
    return;
  }
  const remindersMax = draft.settings.idle?.remindersMax ?? 0;
  if (draft.reminders >= remindersMax) return void leaveSilentUser(draft);
  draft.reminders++;
  agent.say(draft, "reminder", now);
}

function leaveSilentUser(draft: Draft): void {
  agent.hangUp(draft, draft.userSpoke ? "SUCCESS" : "HUNG_UP_EARLY", "user_silent");
}
