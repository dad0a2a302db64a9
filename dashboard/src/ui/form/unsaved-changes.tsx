import { useBlocker } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../button.tsx";
import { Dialog } from "../overlay/dialog.tsx";

const SIGN_IN = "/sign-in";

/** Asks before the page with unsaved changes is left; the browser asks before its tab is closed. */
export function UnsavedChanges({
  isDirty,
  name,
  onSave,
  onDiscard,
}: {
  isDirty: boolean;
  name: string;
  /** Resolves to whether it was saved; otherwise the page says why not. Absent while it cannot be saved. */
  onSave?: (() => Promise<boolean>) | undefined;
  onDiscard?: () => void;
}) {
  const [isSaving, setSaving] = useState(false);
  const blocker = useBlocker({
    // Tabs and panels of the same page are in its address too.
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  const isAsking = blocker.status === "blocked";
  const stay = () => blocker.status === "blocked" && blocker.reset();
  const discard = (
    <Button
      variant="danger"
      disabled={isSaving}
      onClick={() => {
        if (blocker.status !== "blocked") return;
        onDiscard?.();
        blocker.proceed();
      }}
    >
      Discard changes
    </Button>
  );
  const saveAndLeave = async () => {
    if (blocker.status !== "blocked" || !onSave) return;
    setSaving(true);
    const isSaved = await onSave();
    setSaving(false);
    if (isSaved) blocker.proceed();
    else blocker.reset();
  };
  // The session ended while the page was open: signing in beside it keeps the changes.
  if (blocker.next?.pathname === SIGN_IN)
    return (
      <Dialog
        open={isAsking}
        onClose={stay}
        size="small"
        title="You are signed out"
        description={`“${name}” has unsaved changes. Sign in in another tab, then come back to this one and save them.`}
        footer={
          <>
            {discard}
            <Button asChild variant="primary" onClick={stay}>
              <a href={SIGN_IN} target="_blank" rel="noopener">
                Sign in in a new tab
              </a>
            </Button>
          </>
        }
      />
    );
  return (
    <Dialog
      open={isAsking}
      onClose={stay}
      size="small"
      title={`Leave “${name}” without saving?`}
      description="You have unsaved changes. If you leave now, you lose them."
      footer={
        <>
          {discard}
          <Button variant={onSave ? "secondary" : "primary"} disabled={isSaving} onClick={stay}>
            Keep editing
          </Button>
          {onSave && (
            <Button variant="primary" busy={isSaving} onClick={saveAndLeave}>
              Save and leave
            </Button>
          )}
        </>
      }
    />
  );
}
