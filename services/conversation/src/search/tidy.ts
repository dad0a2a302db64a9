import type { Database } from "@parley/shared/db/database";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import { inTurns } from "../retention/in-turns.ts";
import { listGoneBlocks, rebuildBlock } from "../store/search/index.ts";

const EVERY_MS = 15 * 60_000;
/** How long deleted conversations may stay in a block, which is rebuilt as a whole: they must leave the disk within a day. */
const GONE_FOR_MS = 8 * 3_600_000;

/** Takes the words of deleted conversations out of the search's index; nobody finds those from the moment of the deletion. */
export function goneConversations(db: Database): Sweep {
  return {
    name: "tidy-search-index",
    everyMs: EVERY_MS,
    run: async (now, stopping) => {
      const blocks = Map.groupBy(
        await listGoneBlocks(db, new Date(now.getTime() - GONE_FOR_MS)),
        ({ ownerId }) => ownerId,
      );
      const rebuildNext = async (ownerId: string) => {
        const [next, ...others] = blocks.get(ownerId) ?? [];
        if (next) await rebuildBlock(db, ownerId, next.block);
        blocks.set(ownerId, others);
        return others.length > 0;
      };
      await inTurns([...blocks.keys()], rebuildNext, stopping);
    },
  };
}
