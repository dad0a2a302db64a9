import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
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
  const [made, setMade] = useState<{ id: string; secret: string | undefined } | null>(null);
  const [isSecretCopied, setSecretCopied] = useState(false);
  const draft = useNewToolDraft(begun, ({ id, name, signing_secret: secret }) => {
    tellDone(`Created “${name}”`);
    setMade({ id, secret });
  });
  // The form asks before it is left as long as it counts as changed.
  const isDone = made !== null && !draft.isDirty && (made.secret === undefined || isSecretCopied);
  useEffect(() => {
    if (isDone) void navigate({ to: "/tools/$toolId", params: { toolId: made.id }, search: {}, replace: true });
  }, [isDone, made?.id, navigate]);
  return (
    <>
      <ToolEditor draft={draft} tool={null} title={`New ${labelOfType(type)} tool`} />
      <Dialog
        open={made?.secret !== undefined && !isSecretCopied}
        onClose={() => setSecretCopied(true)}
        title="Copy the signing secret now"
        description="It is shown only this once."
      >
        <SigningSecret secret={made?.secret ?? ""} onDone={() => setSecretCopied(true)} />
      </Dialog>
    </>
  );
}
