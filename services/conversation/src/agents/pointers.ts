import type { AgentPointer } from "@parley/proto/parley/agent/v1/agent.ts";
import type {
  AgentKey,
  BatchGetPointersRequest,
  BatchGetPointersResponse,
} from "@parley/proto/parley/agent/v1/agent_service.ts";
import { agentReader } from "@parley/shared/domain/agent-reader";
import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import type { CallOptions } from "@parley/shared/rpc/client/sender";
import { ownerCache } from "@parley/shared/shares/owner-cache";

interface Pointers {
  /**
   * What new conversations of an agent get, as of now. While the agent service is away, its last answer stands for a minute.
   * @throws ServiceError forbidden for another owner's agent, not_found for none, unavailable or deadline when nothing is known
   */
  get(ownerId: string, agentId: string): Promise<AgentPointer>;
  heldBytes(): number;
}

export interface PointerSettings {
  batchGetPointers(request: BatchGetPointersRequest, options: CallOptions): Promise<BatchGetPointersResponse>;
  log: Logger;
  /** Milliseconds of a clock that only goes forward. */
  nowMs?(): number;
}

/** How long a turn waits for an answer if an earlier one may stand. */
const ASK_MS = 250;
/** How long an answer stands while there is no newer one. */
const STANDS_MS = 60_000;
/** Room for 10,000 agents at least. */
const TOTAL_BYTES = 16 * 1024 * 1024;
const OWNER_BYTES = 4 * 1024 * 1024;
const POINTER_BYTES = 400;
const SLOT_BYTES = 8;

interface Answer {
  pointer: AgentPointer;
  at: number;
}

/** Asks for the pointers of the agents that one tick needs in one call. */
export function agentPointers({ batchGetPointers, log, nowMs = () => performance.now() }: PointerSettings): Pointers {
  const answers = ownerCache<Answer>({ totalBytes: TOTAL_BYTES, ownerBytes: OWNER_BYTES });
  let isAway = false;
  const asking = (options: CallOptions) =>
    agentReader<AgentKey, AgentPointer>(async (keys) => {
      const at = nowMs();
      const { results } = await batchGetPointers({ keys }, options);
      noteAway(false);
      for (const [index, { ownerId, agentId }] of keys.entries()) {
        const pointer = results[index]?.pointer;
        if (pointer) answers.set(ownerId, agentId, { pointer, at }, POINTER_BYTES + SLOT_BYTES * pointer.slots.length);
      }
      return results.map(({ pointer, access }) => ({ found: pointer, access }));
    });
  const [ask, askBriefly] = [asking({}), asking({ timeoutMs: ASK_MS })];

  const noteAway = (away: boolean, err?: unknown) => {
    if (away === isAway) return;
    isAway = away;
    if (away)
      log.warn({ err }, "the agent service does not answer: the versions that it last named stand for a minute");
    else log.info({}, "the agent service answers again");
  };

  return {
    heldBytes: answers.heldBytes,
    async get(ownerId, agentId) {
      const last = answers.get(ownerId, agentId);
      const stands = last !== undefined && nowMs() - last.at < STANDS_MS;
      try {
        return await (stands ? askBriefly : ask)({ ownerId, agentId });
      } catch (error) {
        if (!isUnanswered(error)) {
          answers.delete(ownerId, agentId);
          throw error;
        }
        if (!stands) throw error;
        noteAway(true, error);
        return last.pointer;
      }
    },
  };
}

function isUnanswered(error: unknown): boolean {
  return error instanceof ServiceError && (error.kind === "unavailable" || error.kind === "deadline");
}
