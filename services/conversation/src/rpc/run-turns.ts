import type {
  RunTurnsRequest,
  TurnEnd,
  TurnStart,
  TurnStarted,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newUuid } from "@parley/shared/ids";
import type { Call } from "@parley/shared/rpc/call";
import { carriedCall, serveCarried } from "@parley/shared/rpc/carried-call";
import { statusMessage } from "@parley/shared/rpc/status";
import { enterLoop } from "@parley/shared/shares/loop-entry";
import type { ConversationContext, Handler } from "../context.ts";
import { toReplyKnowledge } from "../convert.ts";
import { toNews } from "../tools/telling.ts";
import { runTurn, type Tell } from "../turn/turn.ts";
import { type TurnOutbox, turnOutbox } from "../turn/turn-outbox.ts";

/** A turn's name in traces, metrics and logs. The stream that carries turns has its own, because it lasts much longer. */
const TURN = "/parley.conversation.v1.ConversationService/RunTurn";

/** Serves many turns of one caller in one stream. */
export function runTurns(ctx: ConversationContext): Handler<"runTurns"> {
  const replica = newUuid();
  return async function* (requests, call) {
    const turns = new Map<number, CarriedTurn>();
    const outbox = turnOutbox(replica, () => turns.size);
    const stop = () => outbox.stop();
    const leaveAll = () => {
      for (const turn of turns.values()) turn.leave();
    };
    call.stopping.addEventListener("abort", stop, { once: true });
    call.signal.addEventListener("abort", leaveAll, { once: true });
    if (call.stopping.aborted) stop();
    void readRequests(ctx, requests, call, turns, outbox);
    try {
      yield* outbox.messages();
    } finally {
      call.stopping.removeEventListener("abort", stop);
      leaveAll();
    }
  };
}

/** A turn among the others of a stream. */
interface CarriedTurn {
  /** The caller accepts further characters. */
  takeMore(characters: number): void;
  leave(): void;
}

async function readRequests(
  ctx: ConversationContext,
  requests: AsyncIterable<RunTurnsRequest>,
  call: Call,
  turns: Map<number, CarriedTurn>,
  outbox: TurnOutbox,
): Promise<void> {
  const running = new Set<Promise<void>>();
  try {
    for await (const { starts, credits, cancels } of requests) {
      for (const start of starts) {
        const turn = startTurn(ctx, start, call, turns, outbox).finally(() => running.delete(turn));
        running.add(turn);
      }
      for (const { number, characters } of credits) turns.get(number)?.takeMore(characters);
      for (const number of cancels) turns.get(number)?.leave();
    }
    while (running.size > 0) await Promise.all(running);
    outbox.end();
  } catch (error) {
    outbox.end(error);
  }
}

/** Runs a turn to its end, which is reported like its other events. */
async function startTurn(
  ctx: ConversationContext,
  start: TurnStart,
  stream: Call,
  turns: Map<number, CarriedTurn>,
  outbox: TurnOutbox,
): Promise<void> {
  const { number, streamed } = start;
  const told = { number, ownerId: start.turn?.ownerId ?? "" };
  if (stream.stopping.aborted) return outbox.tellEnd(told, { ...ENDED, refused: true });
  const carried = carriedCall(stream, start);
  const { call } = carried;
  const credit = creditOf(start.credit);
  turns.set(number, {
    takeMore: credit.takeMore,
    leave() {
      carried.leave();
      credit.goOn();
    },
  });
  const end = { ...ENDED };
  /** A whole reply leaves together with the turn's end, because the client can use neither the reply nor the session earlier. */
  const held: { started: TurnStarted | null; text: string } = { started: null, text: "" };
  let isFirst = true;
  const tellText = (text: string) => {
    outbox.tellText(told, text, isFirst);
    isFirst = false;
    return credit.spend(text.length);
  };
  const tell: Tell = (event) => {
    if (call.signal.aborted) return null;
    if (event.type === "text") {
      if (streamed) return tellText(event.text);
      held.text += event.text;
    } else if (event.type === "started") {
      const { sessionId, replayed } = event;
      if (streamed) outbox.tellStarted(told, { sessionId, replayed });
      else held.started = { sessionId, replayed };
    } else if (event.type === "operator") end.isOperators = true;
    else if (event.type === "client_calls") end.toolCalls = [...event.calls];
    else if (event.type === "knowledge") end.knowledge = toReplyKnowledge(event.knowledge);
    else outbox.tellTool(told, toNews(event));
    return null;
  };
  // Many turns may begin in one message.
  await enterLoop(told.ownerId);
  const failure = await serveCarried(TURN, told.ownerId, carried, () =>
    runTurn(ctx, start.turn, call, streamed ? "streamed" : "whole", tell),
  );
  turns.delete(number);
  if (call.signal.aborted) return;
  if (held.started) outbox.tellStarted(told, held.started);
  if (held.text !== "") outbox.tellText(told, held.text, true);
  const error = failure ? statusMessage(failure) : undefined;
  outbox.tellEnd(told, { ...end, error, errorReplayed: call.replayed ?? false });
}

/** @param characters that the caller accepts */
function creditOf(characters: number) {
  let left = characters;
  let reader: PromiseWithResolvers<void> | null = null;
  const goOn = () => {
    reader?.resolve();
    reader = null;
  };
  return {
    takeMore(more: number): void {
      left += more;
      if (left > 0) goOn();
    },
    /** @returns a promise while the caller is behind, or null */
    spend(used: number): Promise<void> | null {
      left -= used;
      if (left > 0) return null;
      reader ??= Promise.withResolvers();
      return reader.promise;
    },
    /** Lets whoever waits for the caller go on. */
    goOn,
  };
}

const ENDED: TurnEnd = { error: undefined, errorReplayed: false, refused: false, toolCalls: [] };
