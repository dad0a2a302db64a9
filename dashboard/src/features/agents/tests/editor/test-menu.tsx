import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { api } from "../../../../api/client.ts";
import { ActionsMenu } from "../../../../ui/overlay/actions-menu.tsx";
import { Confirm } from "../../../../ui/overlay/confirm.tsx";
import { MenuItem } from "../../../../ui/overlay/menu.tsx";
import { type Test, testQuery, testsQuery } from "../queries.ts";

/** What is done with a whole test. */
export function TestMenu({ test, onLeave }: { test: Test; onLeave: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const { agent_id, test_id, name, required } = test;
  const params = { path: { agent_id, test_id } };
  const leave = async () => {
    onLeave();
    await navigate({
      to: "/agents/$agentId",
      params: { agentId: agent_id },
      search: { tab: "tests" },
      ignoreBlocker: true,
    });
    client.removeQueries({ queryKey: testQuery(agent_id, test_id).queryKey });
    await client.invalidateQueries({ queryKey: testsQuery(agent_id).queryKey });
  };
  return (
    <>
      <ActionsMenu label={`Actions for ${name}`} variant="secondary" className="size-9">
        <MenuItem danger onSelect={() => setDeleting(true)}>
          <Trash2 aria-hidden /> Delete…
        </MenuItem>
      </ActionsMenu>
      <Confirm
        open={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete “${name}”?`}
        action="Delete test"
        write={() => api.DELETE("/v1/public/agents/{agent_id}/tests/{test_id}", { params })}
        done={`Deleted “${name}”`}
        then={leave}
      >
        {required && "Versions no longer need it to be published; the publish log says who deleted it. "}
        The runs that it was part of are kept. This cannot be undone.
      </Confirm>
    </>
  );
}
