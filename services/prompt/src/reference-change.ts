import type { Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { deleteGoneRevisions, lockAgentReferences, type ReferringAgent, takeRevision } from "./store/references.ts";

/** Far longer than a call can be held up, in a process that stands still say. */
const GONE_KEPT_MS = 24 * 60 * 60_000;

export interface ReferenceChange extends ReferringAgent {
  /** Undefined: of a caller that does not number its changes. */
  revision: number | undefined;
  agentGone: boolean;
}

/**
 * Begins a change of an agent's references, the only one until the transaction ends.
 * @throws ServiceError unavailable when a newer one was here before: nobody waits for this one any more, or it is to be tried again
 */
export async function beginReferenceChange(tx: Sql, change: ReferenceChange, now: Date): Promise<void> {
  await lockAgentReferences(tx, change);
  if (change.revision === undefined) return;
  if (!(await takeRevision(tx, change, change.revision, change.agentGone ? now : null))) {
    throw new ServiceError("unavailable", "The agent's prompts were changed again meanwhile, try again", {
      retryAfterMs: 1_000,
    });
  }
  if (change.agentGone) await deleteGoneRevisions(tx, new Date(now.getTime() - GONE_KEPT_MS));
}
