import type { ControlConversationRequest } from "@parley/proto/parley/conversation/v1/live.ts";
import { invalid, ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import type { Queue } from "@parley/shared/jobs/worker";
import { type Actor, actorText } from "@parley/shared/rpc/actor";
import { isLonger } from "@parley/shared/text/length";
import { successorOf } from "../agents/successor.ts";
import type { ConversationContext } from "../context.ts";
import { llmOf } from "../model/select.ts";
import { agentPathOf, keptOf } from "../store/agent-path.ts";
import {
  endByOperator,
  giveBack,
  giveBackIdle,
  handOverTo,
  inject,
  insertOperatorMessage,
  setMuted,
  takeOver,
} from "../store/controls.ts";
import { type ConversationRow, findConversation } from "../store/conversations.ts";
import { stopReply } from "../store/live.ts";
import { storable } from "../store/storable.ts";

type Action = NonNullable<ControlConversationRequest["action"]>;

const TARGET = /^(\+[1-9]\d{6,14}|sips?:[^\s<>"]{1,200})$/;
const CHARACTERS_MAX = 4_000;
/** How long an operator's message waits for the reply that is written. */
const REPLY_WITHIN_MS = 15_000;
const LOOK_MS = 100;
const SEND = "send-operator-messages";
const GIVE_BACK = 200;

interface Asked {
  ctx: ConversationContext;
  row: ConversationRow;
  actor: Actor;
}

/**
 * Does what an operator wants of a chat, a widget's chat or a WhatsApp conversation.
 * @throws ServiceError condition when its channel cannot, conflict when it has ended or another operator has it, invalid, not_found
 */
export async function controlText({ ctx, row, actor }: Asked, action: Action): Promise<void> {
  const { db, clock, limits } = ctx;
  const now = clock.now();
  switch (action.$case) {
    case "say":
      return sayNow(ctx, row, checked("text", action.value));
    case "inject":
      return injectText(ctx, row, action.value);
    case "mute":
      await orEnded(setMuted(db, row, action.value, now));
      if (action.value) await stopReply(db, row);
      return;
    case "takeOver": {
      if (!action.value) return orEnded(giveBack(db, row, now));
      const taken = await takeOver(db, row, actorText(actor), limits.takeOverIdleMs, now);
      if (!taken) throw await whyNot(ctx, row);
      return stopReply(db, row);
    }
    case "handoff":
      return handOff(ctx, row, action.value);
    case "transfer":
      throw new ServiceError("condition", "Only a call can be transferred to a number");
    case "end":
      return end(ctx, row, action.value.message);
  }
}

/** The same of a call: the process that holds it speaks, is silent, connects and hangs up. */
export async function controlCall({ ctx, row }: Asked, action: Action): Promise<void> {
  const { ownerId, conversationId } = row;
  const command = (value: Parameters<ConversationContext["commandCall"]>[0]["command"]) =>
    ctx.commandCall({ ownerId, conversationId, command: value });
  switch (action.$case) {
    case "say":
      await command({ $case: "say", value: checked("text", action.value) });
      return;
    case "inject":
      await injectText(ctx, row, action.value);
      // No turn of such a model reads what is stored.
      if (await isSpeechToSpeech(ctx, row)) await command({ $case: "inject", value: checked("text", action.value) });
      return;
    case "mute":
      await command({ $case: "mute", value: action.value });
      return orEnded(setMuted(ctx.db, row, action.value, ctx.clock.now()));
    case "takeOver":
      throw new ServiceError(
        "condition",
        "A call cannot be taken over: mute the agent, say something or transfer the call",
      );
    case "handoff":
      return handOff(ctx, row, action.value);
    case "transfer":
      if (!TARGET.test(action.value))
        throw invalid("to", "to must be a phone number in E.164 form, such as +14155550123, or a SIP address");
      if (row.testRunId !== null) throw new ServiceError("condition", "This call is a test, which dials nobody");
      await command({ $case: "transfer", value: action.value });
      return;
    case "end":
      await command({ $case: "end", value: { message: storable(action.value.message) } });
      return;
  }
}

/** Sends operators' messages over the channels of their conversations. */
export function operatorMessages({ sendText }: Pick<ConversationContext, "sendText">): Record<string, Queue> {
  return {
    [SEND]: {
      concurrency: 8,
      run: async ({ ownerId, payload }) => {
        await sendText({ ownerId, ...(payload as Omit<Parameters<typeof sendText>[0], "ownerId">) });
      },
    },
  };
}

/** Gives conversations back to their agents in which nobody has written for `PARLEY_TAKE_OVER_IDLE_MINUTES`. */
export function idleTakeOvers({ db, limits }: Pick<ConversationContext, "db" | "limits">): Sweep {
  return {
    name: "give-back-idle",
    everyMs: Math.min(5_000, limits.takeOverIdleMs / 4),
    run: async (now, stopping) => {
      while ((await giveBackIdle(db, now, GIVE_BACK)) === GIVE_BACK && !stopping.aborted);
    },
  };
}

/** @throws ServiceError invalid */
function checked(field: string, given: string): string {
  const text = storable(given);
  if (text.trim() === "" || isLonger(text, CHARACTERS_MAX))
    throw invalid(field, `${field} must be 1 to ${CHARACTERS_MAX} characters`);
  return text;
}

/** Writes a message as soon as no reply is written. */
async function sayNow(ctx: ConversationContext, row: ConversationRow, text: string, ends = false): Promise<void> {
  await untilFree(
    ctx,
    row,
    () =>
      ctx.db.begin(async (tx): Promise<boolean> => {
        const now = ctx.clock.now();
        const sequence = await insertOperatorMessage(tx, row, text, now, ends);
        if (sequence !== null && row.type === "WHATSAPP") {
          const { ownerId, conversationId } = row;
          const payload = { conversationId, messageId: newUuid(), sequence, text };
          await enqueueJob(tx, {
            ownerId,
            jobId: `send-${conversationId}-${sequence}`,
            queue: SEND,
            payload,
            dueAt: now,
          });
        }
        return sequence !== null;
      }) as Promise<boolean>,
  );
}

async function end(ctx: ConversationContext, row: ConversationRow, message: string): Promise<void> {
  await stopReply(ctx.db, row);
  if (message.trim() !== "") return sayNow(ctx, row, checked("message", message), true);
  await untilFree(ctx, row, () => endByOperator(ctx.db, row, ctx.clock.now()));
}

async function injectText({ db, clock }: ConversationContext, row: ConversationRow, text: string): Promise<void> {
  if (await inject(db, row, checked("text", text), clock.now())) return;
  const now = await findConversation(db, row, clock.now());
  if (now?.status !== "IN_PROGRESS") throw hasEnded();
  throw new ServiceError("condition", "There is no room for further injected text: 16 KiB a conversation");
}

async function handOff(ctx: ConversationContext, row: ConversationRow, agentId: string): Promise<void> {
  const agent = await successorOf(ctx, row, agentPathOf(row), agentId);
  const isCall = row.type !== "CHAT" && row.type !== "WHATSAPP";
  if (isCall && (await isSpeechToSpeech(ctx, row)))
    throw new ServiceError(
      "condition",
      "The agent of this call has a speech-to-speech model, which hands over only by its own tools. Inject that it should, or transfer the call.",
    );
  // Refuses an agent whose model cannot be asked.
  llmOf(agent);
  await orEnded(handOverTo(ctx.db, row, agent, ctx.clock.now()));
}

async function isSpeechToSpeech(ctx: ConversationContext, row: ConversationRow): Promise<boolean> {
  return (await ctx.agents.get(row.ownerId, row.agentId, keptOf(row))).sts !== undefined;
}

/** @param write returns false while a reply is in progress, or when the conversation has ended */
async function untilFree(ctx: ConversationContext, row: ConversationRow, write: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + REPLY_WITHIN_MS;
  while (!(await write())) {
    const now = await findConversation(ctx.db, row, ctx.clock.now());
    if (now?.status !== "IN_PROGRESS") throw hasEnded();
    if (performance.now() > giveUpAt)
      throw new ServiceError(
        "conflict",
        "The agent is writing a reply. Wait for its end, or take the conversation over.",
      );
    await Bun.sleep(LOOK_MS);
  }
}

async function orEnded(done: Promise<boolean>): Promise<void> {
  if (!(await done)) throw hasEnded();
}

async function whyNot({ db, clock }: ConversationContext, row: ConversationRow): Promise<ServiceError> {
  const now = await findConversation(db, row, clock.now());
  if (now?.status !== "IN_PROGRESS" || !now.takenOver) return hasEnded();
  const { by, since } = now.takenOver;
  const [kind, id] = by.split(":");
  return new ServiceError("conflict", `The ${kind} ${id} has taken this conversation over since ${since}`);
}

export function hasEnded(): ServiceError {
  return new ServiceError("conflict", "The conversation has ended");
}
