import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { Dialog } from "../../../ui/overlay/dialog.tsx";
import { tellDone } from "../../../ui/overlay/toasts.tsx";
import { SigningSecret } from "../signing-secret.tsx";
import { labelOfType, type ToolType } from "../tools.ts";
import { useNewToolDraft } from "./draft.ts";
import { newForm } from "./form.ts";
import { ToolEditor } from "./tool-editor.tsx";

/** A tool that is saved for the first time. An HTTP tool's signing secret is shown then, once. */
export function NewToolPage() {
  const { type = "http" } = useSearch({ from: "/signed-in/tools/new" });
  return <NewTool key={type} type={type} />;
}

function NewTool({ type }: { type: ToolType }) {
  const navigate = useNavigate();
  const [begun] = useState(() => newForm(type));
  const [made, setMade] = useState<{ id: string; secret: string } | null>(null);
  const open = (toolId: string) => navigate({ to: "/tools/$toolId", params: { toolId }, search: {}, replace: true });
  const draft = useNewToolDraft(begun, ({ id, name, signing_secret: secret }) => {
    tellDone(`Created “${name}”`);
    if (secret) setMade({ id, secret });
    // Once the form no longer counts as changed.
    else setTimeout(() => open(id));
  });
  const done = () => made && open(made.id);
  return (
    <>
      <ToolEditor draft={draft} tool={null} title={`New ${labelOfType(type)} tool`} />
      <Dialog
        open={made !== null}
        onClose={done}
        title="Copy the signing secret now"
        description="It is shown only this once."
      >
        <SigningSecret secret={made?.secret ?? ""} onDone={done} />
      </Dialog>
    </>
  );
}
