import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { ActionsMenu } from "../../../ui/overlay/actions-menu.tsx";
import { Confirm } from "../../../ui/overlay/confirm.tsx";
import { Dialog } from "../../../ui/overlay/dialog.tsx";
import { MenuItem, MenuLine } from "../../../ui/overlay/menu.tsx";
import { NamedAgents } from "../../agents/named-agents.tsx";
import { SigningSecret } from "../signing-secret.tsx";
import { TOOLS, type Tool, toolQuery } from "../tools.ts";

/** The actions on a tool, besides saving and trying it. */
export function ToolMenu({ tool, onLeave }: { tool: Tool; onLeave: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<"rotate" | "delete" | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const close = () => setAsked(null);
  const params = { path: { tool_id: tool.id } };
  const leave = async () => {
    onLeave();
    await navigate({ to: "/tools", search: {} });
    client.removeQueries({ queryKey: toolQuery(tool.id).queryKey });
    await client.invalidateQueries({ queryKey: TOOLS });
  };
  return (
    <>
      <ActionsMenu label={`Actions for ${tool.name}`} variant="secondary" className="size-9">
        {tool.type === "http" && (
          <>
            <MenuItem onSelect={() => setAsked("rotate")}>Rotate signing secret…</MenuItem>
            <MenuLine />
          </>
        )}
        <MenuItem danger onSelect={() => setAsked("delete")}>
          Delete…
        </MenuItem>
      </ActionsMenu>
      <Confirm
        open={asked === "rotate"}
        onClose={close}
        title={`Rotate the signing secret of “${tool.name}”?`}
        action="Rotate secret"
        write={() => api.POST("/v1/public/tools/{tool_id}/rotate-secret", { params })}
        then={({ signing_secret }) => {
          setSecret(signing_secret);
          return client.invalidateQueries({ queryKey: toolQuery(tool.id).queryKey });
        }}
      >
        For 24 hours, requests are signed with both secrets, so you can update your server without rejecting any.
      </Confirm>
      <Confirm
        open={asked === "delete"}
        onClose={close}
        title={`Delete “${tool.name}”?`}
        action="Delete tool"
        write={() => api.DELETE("/v1/public/tools/{tool_id}", { params })}
        done={`Deleted “${tool.name}”`}
        then={leave}
        inWords={(error) => <NamedAgents text={error.message} />}
      >
        Only a tool that no agent uses can be deleted. This cannot be undone.
      </Confirm>
      <Dialog
        open={secret !== null}
        onClose={() => setSecret(null)}
        title="Copy the new secret now"
        description="It is shown only this once."
      >
        <SigningSecret secret={secret ?? ""} onDone={() => setSecret(null)} />
      </Dialog>
    </>
  );
}
