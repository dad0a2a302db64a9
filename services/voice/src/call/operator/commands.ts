import {
  CommandCallRequest as Command,
  type CommandCallRequest,
  type VoiceServiceService,
} from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { listenForNotifications } from "@parley/shared/db/notifications";
import { invalid, ServiceError } from "@parley/shared/errors";
import { isUuid, newUuid } from "@parley/shared/ids";
import type { Logger } from "@parley/shared/log";
import type { Feature } from "@parley/shared/process/feature";
import type { Sealer } from "@parley/shared/sealing";
import {
  answerCommand,
  type CommandAnswer,
  findCommand,
  insertCommand,
  takeAnswer,
} from "../../store/call-commands.ts";
import type { CallKey } from "../../store/calls.ts";
import { listenerHandlers } from "./listener-tokens.ts";

export type CallCommand = Exclude<NonNullable<CommandCallRequest["command"]>, { $case: "watch" }>;
/** What is done by the call itself. */
export type AgentCommand = Exclude<CallCommand, { $case: "listen" | "leave" }>;

interface CommandsContext {
  db: Database;
  /** A connection that receives notifications. */
  direct: Database;
  clock: Clock;
  log: Logger;
  /** Does it if the call is here. @returns what came of it; null if the call is elsewhere */
  command(call: CallKey, command: CallCommand): Promise<CommandAnswer | null>;
  /** Somebody watches the call, which may be here. */
  watched(call: CallKey): void;
  /** Seals the tokens of listeners. */
  sealer: Sealer;
}

const RETRY_MS = 1_000;
/** A process that holds the call answers within milliseconds. */
const ANSWERED_WITHIN_MS = 5_000;

/**
 * What operators want of calls reaches the process that holds the call through the database, as signals do, and so does its answer.
 */
export function callCommands(ctx: CommandsContext): Feature<typeof VoiceServiceService> {
  const { db, direct, clock, log } = ctx;
  const waiting = new Map<string, () => void>();

  const { tell, stop } = listenForNotifications({
    db,
    direct,
    channel: "call_commands",
    retryMs: RETRY_MS,
    heard: (text) => {
      const [what, ownerId = "", id = ""] = text.split(" ");
      if (what === "watched") ctx.watched({ ownerId, conversationId: id });
      else if (what === "answered") waiting.get(id)?.();
      else void carryOut(ownerId, id).catch((err) => log.warn({ err }, "a command for a call was not carried out"));
    },
    onAway: (err) => log.warn({ err }, "calls receive no commands while the database is unreachable"),
  });

  async function carryOut(ownerId: string, commandId: string): Promise<void> {
    const found = await findCommand(db, ownerId, commandId);
    const command = found && Command.decode(found.command).command;
    if (!command || command.$case === "watch") return;
    const done = await ctx.command({ ownerId, conversationId: found.conversationId }, command);
    if (done && (await answerCommand(db, ownerId, commandId, done))) await tell(`answered ${ownerId} ${commandId}`);
  }

  /** @throws ServiceError condition, saying why the call cannot; conflict if no process holds it */
  async function ask(request: CommandCallRequest): Promise<{ answer: string }> {
    const { ownerId, conversationId } = request;
    const commandId = newUuid();
    const answered = Promise.withResolvers<void>();
    waiting.set(commandId, answered.resolve);
    const late = setTimeout(answered.resolve, ANSWERED_WITHIN_MS);
    try {
      const command = Command.encode(request).finish();
      await insertCommand(db, { ownerId, conversationId, commandId, command, now: clock.now() });
      await tell(`command ${ownerId} ${commandId}`);
      await answered.promise;
    } finally {
      clearTimeout(late);
      waiting.delete(commandId);
    }
    const answer = await takeAnswer(db, ownerId, commandId);
    if (!answer) throw new ServiceError("conflict", "Nobody is on the line in this call");
    if (answer.refusal !== null) throw new ServiceError("condition", answer.refusal);
    return { answer: answer.answer ?? "" };
  }

  return {
    handlers: {
      ...listenerHandlers({ db, clock, sealer: ctx.sealer, ask }),
      commandCall: async (request) => {
        const { ownerId, conversationId, command } = request;
        if (!isUuid(conversationId)) throw invalid("conversation_id", "conversation_id must be a UUID");
        if (!command) throw invalid("command", "command is required");
        if (command.$case !== "watch") return ask(request);
        await tell(`watched ${ownerId} ${conversationId}`);
        return { answer: "" };
      },
    },
    stop,
  };
}
