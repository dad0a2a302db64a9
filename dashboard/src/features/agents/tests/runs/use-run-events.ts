import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { watchEvents } from "../../../../api/watch-events.ts";
import { isOpen, type Run, runQuery, runsQuery } from "../queries.ts";

/** Keeps a run that has not ended up to date. */
export function useRunEvents(run: Run): void {
  const client = useQueryClient();
  const { agent_id: agentId, run_id: runId } = run;
  const isRunning = isOpen(run);
  useEffect(() => {
    if (!isRunning) return;
    const left = new AbortController();
    const { queryKey } = runQuery(agentId, runId);
    const hear = ({ event, data }: { event: string; data: unknown }) => {
      if (event !== "run" && event !== "ended") return;
      client.setQueryData(queryKey, data as Run);
      if (event === "ended") void client.invalidateQueries({ queryKey: runsQuery(agentId).queryKey });
    };
    void watchEvents(`/v1/public/agents/${agentId}/tests/runs/${runId}/events`, hear, left.signal);
    return () => left.abort();
  }, [client, agentId, runId, isRunning]);
}
