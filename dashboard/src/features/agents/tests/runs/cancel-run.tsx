import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Square } from "lucide-react";
import { api } from "../../../../api/client.ts";
import { Button } from "../../../../ui/button.tsx";
import { tellFailure } from "../../../../ui/overlay/toasts.tsx";
import { testsKey } from "../queries.ts";

/** Ends a run or a replay early. */
export function CancelRun({ agentId, runId, what }: { agentId: string; runId: string; what: "run" | "replay" }) {
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => {
      const params = { path: { agent_id: agentId, run_id: runId } };
      return api.POST("/v1/public/agents/{agent_id}/tests/runs/{run_id}/cancel", { params });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: testsKey(agentId) }),
    onError: tellFailure,
  });
  return (
    <Button busy={cancel.isPending} onClick={() => cancel.mutate()}>
      <Square aria-hidden /> Cancel {what}
    </Button>
  );
}
