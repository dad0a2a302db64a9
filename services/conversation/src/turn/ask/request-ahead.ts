import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { collectValues } from "@parley/shared/domain/variables/values";
import type { EnterLoop } from "@parley/shared/shares/loop-entry";
import type { Asked, ModelRequest } from "../../model/port.ts";
import type { PreparedTurn, RequestAhead } from "../accept-turn.ts";
import { type Channel, requestOf } from "./model-request.ts";

/** Longer requests are written when their turn comes: before that, they are not counted in the turn's memory. */
const CHARACTERS_MAX = 16 * 1024;

/**
 * Makes the request of a new session's first turn, and has the model write it, while its message is being stored: nothing of it comes
 * from the database. In a turn with nothing else to wait for, this is a tenth of a millisecond or two that the client does not wait for.
 * @param enter the order in which turns work on the loop
 */
export function requestAhead(
  { agent, model }: PreparedTurn,
  { ownerId, message, metadata }: Turn,
  contextTokens: number,
  channel: Channel,
  asked: Asked,
  enter: EnterLoop,
): RequestAhead {
  let made: ModelRequest | null = null;
  let isTaken = false;
  const length = message.length + (agent.prompt?.promptContent.length ?? 0);

  async function make(): Promise<void> {
    if (isTaken) return;
    const entered = enter(ownerId);
    if (entered) await entered;
    if (isTaken) return;
    const session = { variables: collectValues(metadata ?? {}), language: null, earlier: [] };
    const request = requestOf(agent, session, message, channel, contextTokens);
    if (request.system.length > CHARACTERS_MAX) return;
    made = request;
    model.write?.(request, asked);
  }

  // The driver sends the statement in the next turn of the loop, so this begins in the one after.
  if (length <= CHARACTERS_MAX) setImmediate(() => setImmediate(() => void make().catch(() => {})));
  return {
    take() {
      isTaken = true;
      return made;
    },
  };
}
