import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Ellipsis, Trash2 } from "lucide-react";
import { useState } from "react";
import { api, ask } from "../../../../api/client.ts";
import { Button } from "../../../../ui/button.tsx";
import { Confirm } from "../../../../ui/overlay/confirm.tsx";
import { Menu, MenuItem } from "../../../../ui/overlay/menu.tsx";
import { tellDone } from "../../../../ui/overlay/toasts.tsx";
import { type Test, testQuery, testsQuery } from "../queries.ts";

/** What is done with a whole test. */
export function TestMenu({ test, onLeave }: { test: Test; onLeave: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const { agent_id, test_id, name, required } = test;
  const remove = useMutation({
    mutationFn: () =>
      ask(api.DELETE("/v1/public/agents/{agent_id}/tests/{test_id}", { params: { path: { agent_id, test_id } } })),
    onSuccess: async () => {
      onLeave();
      tellDone(`Deleted “${name}”`);
      await navigate({
        to: "/agents/$agentId",
        params: { agentId: agent_id },
        search: { tab: "tests" },
        ignoreBlocker: true,
      });
      client.removeQueries({ queryKey: testQuery(agent_id, test_id).queryKey });
      await client.invalidateQueries({ queryKey: testsQuery(agent_id).queryKey });
    },
  });
  return (
    <>
      <Menu
        trigger={
          <Button size="icon" className="size-9" aria-label={`Actions for ${name}`}>
            <Ellipsis aria-hidden />
          </Button>
        }
      >
        <MenuItem danger onSelect={() => setDeleting(true)}>
          <Trash2 aria-hidden /> Delete…
        </MenuItem>
      </Menu>
      <Confirm
        open={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete “${name}”?`}
        action="Delete test"
        write={remove}
      >
        {required && "Versions no longer need it to be published; the publish log says who deleted it. "}
        The runs that it was part of are kept. This cannot be undone.
      </Confirm>
    </>
  );
}
