import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { FlaskConical } from "lucide-react";
import { api, type Schema } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { tellDone, tellFailure } from "../../../ui/overlay/toasts.tsx";
import { testQuery, testsQuery } from "./queries.ts";

/** Makes a test of a conversation, and opens it to be edited. */
export function MakeTestButton({
  agent_id: agentId,
  conversation_id,
}: Pick<Schema["Conversation"], "agent_id" | "conversation_id">) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const make = useMutation({
    mutationFn: () =>
      api.POST("/v1/public/agents/{agent_id}/tests/from-conversation", {
        params: { path: { agent_id: agentId } },
        body: { conversation_id },
      }),
    onSuccess: async (test) => {
      client.setQueryData(testQuery(agentId, test.test_id).queryKey, test);
      void client.invalidateQueries({ queryKey: testsQuery(agentId).queryKey });
      tellDone(`Created “${test.name}”`);
      await navigate({ to: "/agents/$agentId/tests/$testId", params: { agentId, testId: test.test_id } });
    },
    onError: tellFailure,
  });
  return (
    <Button busy={make.isPending} onClick={() => make.mutate()}>
      <FlaskConical aria-hidden /> Make a test of this conversation
    </Button>
  );
}
