import type { CommandCallRequest, VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { isUuid, newUuid } from "@parley/shared/ids";
import { actorText } from "@parley/shared/rpc/actor";
import type { Handlers } from "@parley/shared/rpc/server";
import type { Sealer } from "@parley/shared/sealing";
import { type CallKey, isHeld } from "../../store/calls.ts";
import { listenerOffer } from "./listeners.ts";

interface TokensContext {
  db: Database;
  clock: Clock;
  sealer: Sealer;
  /** Asks the process that holds the call. @throws ServiceError conflict if none does, condition if it refuses */
  ask(command: CommandCallRequest): Promise<{ answer: string }>;
}

type Handler = "createListener" | "connectListener" | "endListener";

/** Long enough for a page to make its offer. */
const VALID_MS = 5 * 60_000;

/**
 * A listener's token names its call and is sealed, so that any process can tell a right one without a table. The process that holds the call
 * lets each connect once.
 */
export function listenerHandlers({ db, clock, sealer, ask }: TokensContext) {
  function opened(conversationId: string, token: string): CallKey & { listenerId: string; isExpired: boolean } {
    try {
      const [ownerId = "", listenerId = "", until = ""] = sealer.open(token, contextOf(conversationId)).split(" ");
      return { ownerId, conversationId, listenerId, isExpired: Number(until) <= clock.now().getTime() };
    } catch {
      throw wrongToken();
    }
  }
  return {
    createListener: async ({ ownerId, conversationId }, { actor, log }) => {
      const isRunning = isUuid(conversationId) && (await isHeld(db, { ownerId, conversationId }));
      if (!isRunning) throw new ServiceError("conflict", "Nobody is on the line in this call");
      const expiresAt = new Date(clock.now().getTime() + VALID_MS);
      const listenerId = newUuid();
      const token = sealer.seal(`${ownerId} ${listenerId} ${expiresAt.getTime()}`, contextOf(conversationId));
      log.info(
        { conversation_id: conversationId, listener_id: listenerId, actor: actorText(actor) },
        "listening to a call allowed",
      );
      return { token, expiresAt };
    },
    connectListener: async ({ conversationId, token, offer }, { log }) => {
      const { ownerId, listenerId, isExpired } = opened(conversationId, token);
      if (isExpired) throw wrongToken();
      listenerOffer(offer);
      const command = { $case: "listen", value: { listenerId, offer } } as const;
      const { answer } = await ask({ ownerId, conversationId, command });
      log.info({ conversation_id: conversationId, listener_id: listenerId }, "listening to a call began");
      return { answer };
    },
    endListener: async ({ conversationId, token }) => {
      const { ownerId, listenerId } = opened(conversationId, token);
      try {
        await ask({ ownerId, conversationId, command: { $case: "leave", value: listenerId } });
      } catch (error) {
        // The call is over, and its listeners with it.
        if (!(error instanceof ServiceError && error.kind === "conflict")) throw error;
      }
      return {};
    },
  } satisfies Pick<Handlers<typeof VoiceServiceService>, Handler>;
}

function contextOf(conversationId: string): string {
  return `listener ${conversationId}`;
}

/** The same answer in every case, so that guesses reveal nothing. */
function wrongToken(): ServiceError {
  return new ServiceError("unauthenticated", "The token is wrong or has expired: ask for another one");
}
