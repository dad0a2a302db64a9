import type {
  ClientCall,
  ClientResult,
  GiveClientResultResponse,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Logger } from "@parley/shared/log";
import type { PassingTime } from "@parley/shared/shares/passing-time";
import type { CallKey } from "../../store/calls.ts";
import type { CallClient } from "../port.ts";
import { type Conversations, untilAnswered } from "../transcript.ts";

/** The calls of client tools in one call: each gets one result at most, and the conversation service stores it. */
export interface ClientCalls {
  /** Whether somebody makes such calls now. */
  areMade(): boolean;
  /**
   * Hands a call over. Never rejects.
   * @param withinMs when it counts as failed here; absent: the conversation service ends it
   * @returns how it ended; null if it is not known, or not waited for
   */
  make(call: ClientCall, withinMs?: number): Promise<GiveClientResultResponse | null>;
  /** The model no longer waits for these calls, if they were handed over. */
  over(toolCallIds: readonly string[]): void;
  /** The call is over. Settles when the results of all calls are stored, or cannot be. */
  end(): Promise<void>;
}

interface ClientCallsParts {
  client: CallClient;
  conversations: Pick<Conversations, "giveClientResult">;
  key: CallKey;
  clock: PassingTime;
  log: Logger;
}

const LEFT = "The client left before it gave a result. The call may have had an effect.";
const NOT_HANDED_OVER =
  "This call could not be handed over to the client: its arguments are too long, or the client is too slow.";
const NOT_WAITED_FOR = "No result is waited for with this tool_call_id.";
const OVER = "This call is over. Its result is not used anymore.";

export function clientCalls({ client, conversations, key, clock, log }: ClientCallsParts): ClientCalls {
  /** The calls whose results are waited for. */
  const open = new Map<string, (given: Omit<ClientResult, "toolCallId">) => void>();
  const storing = new Set<Promise<unknown>>();

  async function give(result: ClientResult): Promise<GiveClientResultResponse | null> {
    try {
      const given = await untilAnswered(clock, () => conversations.giveClientResult({ ...key, result }));
      if (!given.isTaken) client.refuse(result.toolCallId, OVER);
      return given;
    } catch (err) {
      log.warn({ err, tool_call_id: result.toolCallId }, "the result of a client's call could not be stored");
      return null;
    }
  }

  /** The first result counts. */
  function resultOf({ toolCallId }: ClientCall): Promise<GiveClientResultResponse | null> {
    const { promise, resolve } = Promise.withResolvers<GiveClientResultResponse | null>();
    open.set(toolCallId, (given) => {
      open.delete(toolCallId);
      const stored = give({ toolCallId, ...given });
      storing.add(stored);
      void stored.then((how) => {
        storing.delete(stored);
        resolve(how);
      });
    });
    return promise;
  }

  const fail = (toolCallId: string, result: string) => open.get(toolCallId)?.({ result, isError: true });
  const leave = () => {
    for (const toolCallId of [...open.keys()]) fail(toolCallId, LEFT);
  };
  client.listen({
    gave: ({ toolCallId, ...given }) => {
      const settle = open.get(toolCallId);
      if (settle) settle(given);
      else client.refuse(toolCallId, NOT_WAITED_FOR);
    },
    left: leave,
  });

  return {
    areMade: client.isThere,
    make: async (call, withinMs) => {
      const isHanded = client.hand(call);
      if (!isHanded) log.warn({ tool_call_id: call.toolCallId }, "a call could not be handed over to the client");
      if (!call.wait) return null;
      const result = resultOf(call);
      if (!isHanded) fail(call.toolCallId, NOT_HANDED_OVER);
      if (withinMs === undefined) return result;
      const late = `There was no result within ${withinMs / 1_000} s. The call may have had an effect.`;
      const stop = clock.after(withinMs, () => {
        fail(call.toolCallId, late);
        client.refuse(call.toolCallId, OVER);
      });
      return result.finally(stop);
    },
    over: (toolCallIds) => {
      for (const toolCallId of toolCallIds) if (open.delete(toolCallId)) client.refuse(toolCallId, OVER);
    },
    end: async () => {
      leave();
      await Promise.all(storing);
    },
  };
}
