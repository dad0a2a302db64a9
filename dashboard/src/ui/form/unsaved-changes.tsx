import { useBlocker } from "@tanstack/react-router";
import { Button } from "../button.tsx";
import { Dialog } from "../overlay/dialog.tsx";

const SIGN_IN = "/sign-in";

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
  const discard = (
    <Button variant="danger" onClick={() => blocker.status === "blocked" && blocker.proceed()}>
      Discard changes
    </Button>
  );
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
          <Button variant="primary" onClick={stay}>
            Keep editing
          </Button>
        </>
      }
    />
  );
}
