import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Copy, CopyPlus, Trash2 } from "lucide-react";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { NOT_COPIED } from "../../../ui/copy.tsx";
import { ActionsMenu } from "../../../ui/overlay/actions-menu.tsx";
import { Confirm } from "../../../ui/overlay/confirm.tsx";
import { MenuItem, MenuLine } from "../../../ui/overlay/menu.tsx";
import { tellDone, tellFailure } from "../../../ui/overlay/toasts.tsx";
import { AGENTS, type Agent, agentQuery } from "../agents.ts";
import { duplicate } from "./duplicate.ts";

/** What is done with a whole agent. */
export function AgentMenu({ agent, isDirty }: { agent: Agent; isDirty: boolean }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const leave = async () => {
    await navigate({ to: "/agents", ignoreBlocker: true });
    client.removeQueries({ queryKey: agentQuery(agent.id).queryKey });
    await client.invalidateQueries({ queryKey: AGENTS });
  };
  const copy = useMutation({
    mutationFn: () => duplicate(agent),
    onSuccess: async (made) => {
      client.setQueryData(agentQuery(made.id).queryKey, made);
      tellDone(`Created “${made.agent_name}”`);
      await navigate({ to: "/agents/$agentId", params: { agentId: made.id }, search: {} });
      await client.invalidateQueries({ queryKey: AGENTS });
    },
    onError: tellFailure,
  });
  const copyId = () =>
    navigator.clipboard.writeText(agent.id).then(
      () => tellDone("Agent ID copied"),
      () => tellFailure(new Error(NOT_COPIED)),
    );
  return (
    <>
      <ActionsMenu label="More actions">
        <MenuItem onSelect={copyId}>
          <Copy aria-hidden /> Copy agent ID
        </MenuItem>
        <MenuItem disabled={isDirty || copy.isPending} onSelect={() => copy.mutate()}>
          <CopyPlus aria-hidden /> {isDirty ? "Duplicate (save first)" : "Duplicate"}
        </MenuItem>
        <MenuLine />
        <MenuItem danger onSelect={() => setDeleting(true)}>
          <Trash2 aria-hidden /> Delete…
        </MenuItem>
      </ActionsMenu>
      <Confirm
        open={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete “${agent.agent_name}”?`}
        action="Delete agent"
        write={() => api.DELETE("/v1/public/agents/{agent_id}", { params: { path: { agent_id: agent.id } } })}
        done={`Deleted “${agent.agent_name}”`}
        then={leave}
      >
        It stops answering immediately. Its conversations are kept until your retention period ends. This cannot be
        undone.
      </Confirm>
    </>
  );
}
