import type { TurnEvent } from "./events.ts";
import { DEAD_AIR_MS } from "./settings.ts";
import type { Draft, Reply, RunningTool, TurnState } from "./state.ts";

// Tools that take time: who waits for them, what is said meanwhile, and when their results are answered.

type ToolEvent = Extract<TurnEvent, { type: "tool_started" | "tool_ended" }>;

/** A repeated report of the same call counts once. */
export function started(
  draft: Draft,
  { call, rules }: Extract<ToolEvent, { type: "tool_started" }>,
  now: number,
): void {
  if (draft.tools.some((tool) => tool.call === call)) return;
  const { reply } = draft;
  const { timeoutMs, isCancellable, before, delayed, sound } = rules;
  const isSilent = reply?.kind === "answer" && reply.stage === "thinking" && !reply.isSaid;
  const fillers = before !== null && isSilent ? [{ afterMs: 0, text: before }, ...delayed] : delayed;
  const lostAt = now + timeoutMs + DEAD_AIR_MS;
  draft.tools = [...draft.tools, { call, since: now, lostAt, isCancellable, sound, fillers, reply: reply?.id ?? null }];
}

/** Returns the tool that has ended; null if it is not known to run. */
export function ended(draft: Draft, call: string, now: number): RunningTool | null {
  const tool = draft.tools.find((running) => running.call === call);
  if (!tool) return null;
  draft.tools = draft.tools.filter((running) => running !== tool);
  if (draft.reply?.id === tool.reply) draft.reply.sound ??= tool.sound;
  draft.quietSince = now;
  return tool;
}

/** A model that is asked for each answer continues with the result, or is asked once more if its reply was interrupted. */
export function answered(draft: Draft, tool: RunningTool, now: number): void {
  const { reply } = draft;
  if (!reply || reply.id !== tool.reply) draft.hasResults = true;
  else
    Object.assign(reply, {
      since: reply.stage === "thinking" ? now : reply.since,
      soundUntil: Math.max(now, reply.soundUntil),
    });
}

/** The user has interrupted the reply: its tools go on, but for those that may be cancelled. */
export function interrupted(draft: Draft, { id }: Reply): void {
  for (const { call, isCancellable, reply } of draft.tools)
    if (isCancellable && reply === id) draft.effects.push({ type: "cancel_tool", call });
  draft.tools = draft.tools
    .filter(({ isCancellable, reply }) => !isCancellable || reply !== id)
    .map((tool) => (tool.reply === id ? { ...tool, reply: null, fillers: [] } : tool));
}

export function fill(draft: Draft): void {
  const next = nextFiller(draft);
  if (!next || !draft.reply) return;
  const { tool, filler } = next;
  draft.tools = draft.tools.map((each) => (each === tool ? { ...each, fillers: each.fillers.slice(1) } : each));
  draft.reply.isSaid = true;
  draft.effects.push({ type: "fill", reply: draft.reply.id, text: filler.text });
}

/** The filler that is due first, and when; null without one. */
export function nextFiller({ tools, reply }: TurnState) {
  const due = tools.flatMap((tool) => {
    const [filler] = tool.fillers;
    return filler && reply && tool.reply === reply.id ? [{ tool, filler, at: tool.since + filler.afterMs }] : [];
  });
  return due.toSorted((one, other) => one.at - other.at)[0] ?? null;
}

/** What is heard while the reply waits for a tool, or for its next word after one, and nobody speaks; null for nothing. */
export function waitingSound({ tools, reply, user, model }: TurnState): string | null {
  if (!reply || reply.stage === "held") return null;
  const isUserSpeaking = model ? model.hearsSince !== null || model.voiceSince !== null : user.speechSince !== null;
  if (isUserSpeaking) return null;
  return tools.find((tool) => tool.reply === reply.id && tool.sound !== null)?.sound ?? reply.sound;
}

/** The tool whose end is overdue first. */
export function firstLost({ tools }: TurnState): RunningTool | null {
  return tools.toSorted((one, other) => one.lostAt - other.lostAt)[0] ?? null;
}

/** Whether the reply that is in progress waits for a tool. */
export function waits({ tools, reply }: TurnState): boolean {
  return reply !== null && tools.some((tool) => tool.reply === reply.id);
}
