import { batched } from "@parley/shared/rpc/batched";
import type { AgentContext, Handler } from "../../context.ts";
import { getRun } from "../read-tests.ts";
import { toTestRun } from "../runs/to-run.ts";
import { listAttemptSummaries, listAttempts } from "../store/attempts.ts";
import { listRevisions, type RunKey } from "../store/runs.ts";

/** A conversation takes seconds. */
const EVERY_MS = 1_000;
/** Runs whose changes are asked for in one statement. */
const RUNS_MAX = 500;

export function watchTestRun({ db }: AgentContext): Handler<"watchTestRun"> {
  // However many watch, a process asks once at a time.
  const revisionOf = batched<RunKey, number | null>((keys) => listRevisions(db, keys), RUNS_MAX, {
    idOf: ({ ownerId, runId }) => `${ownerId} ${runId}`,
  });
  return async function* (request, { signal, stopping }) {
    const key = { ...request, isReplay: false };
    const ends = AbortSignal.any([signal, stopping]);
    let revision: number | null = -1;
    while (!ends.aborted) {
      const now = await revisionOf(key);
      if (now === null || now !== revision) {
        const run = await getRun(db, key);
        revision = run.revision;
        const attempts =
          run.endedAt === null
            ? await listAttemptSummaries(db, run)
            : await listAttempts(db, run.ownerId, run.runId, "");
        yield { run: toTestRun(run, attempts) };
        if (run.endedAt !== null) return;
      }
      await Bun.sleep(EVERY_MS);
    }
  };
}
