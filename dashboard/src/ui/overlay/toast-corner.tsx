import { CircleAlert, CircleCheck, X } from "lucide-react";
import { DismissableLayer } from "radix-ui/internal";
import { useEffect, useState } from "react";
import { createPortal } from "react-dom";
import { Button } from "../button.tsx";

export interface Toast {
  id: number;
  tone: "success" | "danger";
  text: string;
}

const SHOWN_MS = 5_000;
/** Failures stay longer, because they must be read. */
const FAILURE_SHOWN_MS = 12_000;

interface ToastCornerProps {
  shown: readonly Toast[];
  onGone(id: number): void;
}

/** What was told lately. It takes no keys: Radix's toasts take the Escape of the dialog or menu that is open below them. */
export function ToastCorner({ shown, onGone }: ToastCornerProps) {
  // Apart from the page, which a dialog hides from screen readers.
  return createPortal(
    // A press on it is not one beside the dialog.
    <DismissableLayer.Branch asChild>
      <ol
        aria-live="polite"
        aria-label="Notifications"
        className="fixed right-4 bottom-4 z-50 flex w-[calc(100vw-2rem)] max-w-sm flex-col gap-2"
      >
        {shown.map((toast) => (
          <ShownToast key={toast.id} toast={toast} onGone={onGone} />
        ))}
      </ol>
    </DismissableLayer.Branch>,
    document.body,
  );
}

/** It stays as long as the pointer or the focus is on it. */
function ShownToast({ toast: { id, tone, text }, onGone }: { toast: Toast; onGone(id: number): void }) {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => onGone(id), tone === "danger" ? FAILURE_SHOWN_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, tone, isHeld, onGone]);
  return (
    <li
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
      className="flex items-start gap-2.5 rounded-lg border border-line bg-raised py-2.5 pr-2 pl-3.5 shadow-lg"
    >
      {tone === "danger" ? (
        <CircleAlert className="mt-1 size-4 shrink-0 text-danger-ink" aria-hidden />
      ) : (
        <CircleCheck className="mt-1 size-4 shrink-0 text-success-ink" aria-hidden />
      )}
      <p className="min-w-0 flex-1 py-0.5 break-words">{text}</p>
      <Button variant="ghost" size="icon" aria-label="Dismiss" className="-my-0.5" onClick={() => onGone(id)}>
        <X aria-hidden />
      </Button>
    </li>
  );
}
