import type { Clients } from "../clients.ts";
import type { GateContext } from "../gate.ts";
import { required } from "../present/required.ts";
import { presentRun } from "../present/tests.ts";
import { openEvents, replyWith } from "./open-events.ts";
import type { EventsTo } from "./watch-reply.ts";

/** What becomes of a run of tests, as server-sent events, until it has ended. @throws ServiceError */
export async function runEvents(
  gate: Pick<GateContext, "holdOpen" | "streams" | "log">,
  agents: Pick<Clients["agents"], "watchTestRun">,
  key: { ownerId: string; agentId: string; runId: string },
  to: EventsTo,
): Promise<Response> {
  const open = openEvents(gate, to.request, key.ownerId);
  const origin = { ...to.origin, signal: open.signal };
  const runs = agents.watchTestRun(key, { origin })[Symbol.asyncIterator]();
  const first = await runs.next().catch((error) => {
    open.close();
    throw error;
  });
  return replyWith(gate, open, to, async () => {
    for (let next = first; !next.done; next = await runs.next()) {
      const run = presentRun(required(next.value.run));
      open.stream.tell(run.ended_at === null ? "run" : "ended", run);
    }
  });
}
