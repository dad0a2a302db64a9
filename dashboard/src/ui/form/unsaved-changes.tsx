import { useBlocker } from "@tanstack/react-router";
import { Button } from "../button.tsx";
import { Dialog } from "../overlay/dialog.tsx";

/** Asks before the page with unsaved changes is left; the browser asks before its tab is closed. */
export function UnsavedChanges({ isDirty, name }: { isDirty: boolean; name: string }) {
  const blocker = useBlocker({
    // Tabs and panels of the same page are in its address too.
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  const isAsking = blocker.status === "blocked";
  const stay = () => blocker.status === "blocked" && blocker.reset();
  return (
    <Dialog
      open={isAsking}
      onClose={stay}
      size="small"
      title={`Leave “${name}” without saving?`}
      description="You have unsaved changes. If you leave now, you lose them."
      footer={
        <>
          <Button variant="danger" onClick={() => blocker.status === "blocked" && blocker.proceed()}>
            Discard changes
          </Button>
          <Button variant="primary" onClick={stay}>
            Keep editing
          </Button>
        </>
      }
    />
  );
}
