import type {
  ClientCall,
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
import { type TurnOutbox, turnOutbox } from "./turn-outbox.ts";

/** A turn's name in traces, metrics and logs. The stream that carries turns has its own, because it lasts much longer. */
const TURN = "/parley.conversation.v1.ConversationService/RunTurn";

/** Serves many turns of one caller in one stream. */
export function runTurns(ctx: ConversationContext): Handler<"runTurns"> {
  const replica = newUuid();
  return async function* (requests, call) {
    const turns = new Map<number, RunningTurn>();
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

interface RunningTurn {
  /** The caller accepts further characters. */
  takeMore(characters: number): void;
  leave(): void;
}

async function readRequests(
  ctx: ConversationContext,
  requests: AsyncIterable<RunTurnsRequest>,
  call: Call,
  turns: Map<number, RunningTurn>,
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
  turns: Map<number, RunningTurn>,
  outbox: TurnOutbox,
): Promise<void> {
  const { number, streamed } = start;
  const told = { number, ownerId: start.turn?.ownerId ?? "" };
  if (stream.stopping.aborted) return outbox.tellEnd(told, { ...ENDED, refused: true });
  const carried = carriedCall(stream, start);
  const { call } = carried;
  let credit = start.credit;
  let isFirst = true;
  let reader: PromiseWithResolvers<void> | null = null;
  const goOn = () => {
    reader?.resolve();
    reader = null;
  };
  turns.set(number, {
    takeMore(characters) {
      credit += characters;
      if (credit > 0) goOn();
    },
    leave() {
      carried.leave();
      goOn();
    },
  });
  /** A whole reply leaves together with the turn's end, because the client can use neither the reply nor the session earlier. */
  let held = "";
  let sessionOfHeld: TurnStarted | null = null;
  let toolCalls: ClientCall[] = [];
  let isOperators: true | undefined;
  let knowledge: TurnEnd["knowledge"];
  const tell: Tell = (event) => {
    if (call.signal.aborted) return null;
    if (event.type === "started") {
      const started = { sessionId: event.sessionId, replayed: event.replayed };
      if (streamed) outbox.tellStarted(told, started);
      else sessionOfHeld = started;
      return null;
    }
    if (event.type === "operator") {
      isOperators = true;
      return null;
    }
    if (event.type === "client_calls") {
      toolCalls = [...event.calls];
      return null;
    }
    if (event.type === "knowledge") {
      knowledge = toReplyKnowledge(event.knowledge);
      return null;
    }
    if (event.type !== "text") {
      outbox.tellTool(told, toNews(event));
      return null;
    }
    if (!streamed) {
      held += event.text;
      return null;
    }
    outbox.tellText(told, event.text, isFirst);
    isFirst = false;
    credit -= event.text.length;
    if (credit > 0) return null;
    reader ??= Promise.withResolvers();
    return reader.promise;
  };
  // Many turns may begin in one message.
  await enterLoop(told.ownerId);
  const failure = await serveCarried(TURN, told.ownerId, carried, () =>
    runTurn(ctx, start.turn, call, streamed ? "streamed" : "whole", tell),
  );
  turns.delete(number);
  if (call.signal.aborted) return;
  if (sessionOfHeld) outbox.tellStarted(told, sessionOfHeld);
  if (held !== "") outbox.tellText(told, held, true);
  const error = failure ? statusMessage(failure) : undefined;
  outbox.tellEnd(told, {
    ...ENDED,
    error,
    errorReplayed: call.replayed ?? false,
    toolCalls,
    isOperators,
    knowledge,
  });
}

const ENDED: TurnEnd = { error: undefined, errorReplayed: false, refused: false, toolCalls: [] };
