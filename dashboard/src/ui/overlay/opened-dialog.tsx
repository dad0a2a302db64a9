import { clsx } from "clsx";
import { X } from "lucide-react";
import { useId } from "react";
import { Button } from "../button.tsx";
import { Modal } from "./modal.tsx";
import type { OpenedDialogProps } from "./props.ts";

const WIDTHS = { small: "max-w-md", medium: "max-w-lg", large: "max-w-3xl" } as const;

/** A dialog that is open, or was. If what opened it is gone when it closes, the page gets the focus. */
export function OpenedDialog({
  open,
  onClose,
  title,
  description,
  footer,
  size = "medium",
  children,
  opener,
}: OpenedDialogProps) {
  const id = useId();
  return (
    <Modal
      isShown={open}
      onClose={onClose}
      // What was typed into it, or a secret that it shows once, must not be lost by a stray press.
      closesOutside={false}
      opener={opener}
      aria-labelledby={`${id}title`}
      aria-describedby={description ? `${id}about` : undefined}
      className={clsx(
        "top-[50%] left-[50%] flex max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-xl border border-line bg-raised shadow-2xl",
        WIDTHS[size],
      )}
    >
      <div className="flex items-start gap-4 px-5 pt-5 pb-1">
        <div className="min-w-0 flex-1">
          <h2 id={`${id}title`} className="text-base font-semibold break-words">
            {title}
          </h2>
          {description && (
            <p id={`${id}about`} className="mt-1 text-muted">
              {description}
            </p>
          )}
        </div>
        <Button variant="ghost" size="icon" aria-label="Close" className="-mt-1 -mr-2" onClick={onClose}>
          <X aria-hidden />
        </Button>
      </div>
      <div className="min-h-0 overflow-y-auto px-5 py-3">{children}</div>
      {footer && <div className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{footer}</div>}
    </Modal>
  );
}
