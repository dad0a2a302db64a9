import { type Clock, isSure } from "@parley/shared/clock";
import type { Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { deleteGoneRevisions, lockAgentReferences, type ReferringAgent, takeRevision } from "./store/references.ts";

/** Far longer than any call can be delayed, for example by a suspended process. */
const GONE_KEPT_MS = 24 * 60 * 60_000;

interface ReferenceChange extends ReferringAgent {
  /** Undefined when the caller does not number its changes. */
  revision: number | undefined;
  agentGone: boolean;
}

/**
 * Starts a change of an agent's references and locks them until the end of the transaction.
 * @throws ServiceError unavailable when a newer change came first: the caller either gave up on this one or retries it
 */
export async function beginReferenceChange(tx: Sql, change: ReferenceChange, clock: Clock): Promise<void> {
  const now = clock.now();
  await lockAgentReferences(tx, change);
  if (change.revision === undefined) return;
  if (!(await takeRevision(tx, change, change.revision, change.agentGone ? now : null))) {
    throw new ServiceError("unavailable", "The agent's prompts were changed by another request. Try again.", {
      retryAfterMs: 1_000,
    });
  }
  if (change.agentGone && isSure(clock)) await deleteGoneRevisions(tx, new Date(now.getTime() - GONE_KEPT_MS));
}
