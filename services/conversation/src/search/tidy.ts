import type { Database } from "@parley/shared/db/database";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import { inTurns } from "../retention/in-turns.ts";
import { listStaleBlocks, rebuildBlock } from "../store/search/build-index.ts";

const EVERY_MS = 15 * 60_000;
/**
 * How long words of deleted conversations may stay in a block before it is rebuilt: they must leave the disk within a
 * day.
 */
const GONE_FOR_MS = 8 * 3_600_000;

/**
 * Removes the words of deleted conversations from the search index. Searches stop finding them as soon as they are
 * deleted.
 */
export function goneConversations(db: Database): Sweep {
  return {
    name: "tidy-search-index",
    everyMs: EVERY_MS,
    run: async (now, stopping) => {
      const blocks = Map.groupBy(
        await listStaleBlocks(db, new Date(now.getTime() - GONE_FOR_MS)),
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
