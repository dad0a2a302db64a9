import { clsx } from "clsx";
import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { Button } from "../button.tsx";
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
  return (
    <Radix.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Radix.Content
          onOpenAutoFocus={focusFirstField}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            // Another page may have taken it.
            if (document.activeElement !== document.body) return;
            const next = opener.current?.isConnected ? opener.current : document.getElementById("content");
            next?.focus();
          }}
          {...(description ? {} : { "aria-describedby": undefined })}
          className={clsx(
            "fixed top-[50%] left-[50%] z-50 flex max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-xl border border-line bg-raised shadow-2xl",
            WIDTHS[size],
          )}
        >
          <div className="flex items-start gap-4 px-5 pt-5 pb-1">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-base font-semibold break-words">{title}</Radix.Title>
              {description && <Radix.Description className="mt-1 text-muted">{description}</Radix.Description>}
            </div>
            <Radix.Close asChild>
              <Button variant="ghost" size="icon" aria-label="Close" className="-mt-1 -mr-2">
                <X aria-hidden />
              </Button>
            </Radix.Close>
          </div>
          <div className="min-h-0 overflow-y-auto px-5 py-3">{children}</div>
          {footer && <div className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{footer}</div>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Where there is something to fill in, the focus begins there instead of at the button that closes. */
function focusFirstField(event: Event): void {
  const content = event.currentTarget;
  const field = content instanceof HTMLElement && content.querySelector<HTMLElement>("input, textarea");
  if (!field) return;
  event.preventDefault();
  field.focus();
}
