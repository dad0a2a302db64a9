import { X } from "lucide-react";
import { Dialog } from "radix-ui";
import { Button } from "../button.tsx";
import type { DrawerProps } from "./props.ts";

/** A drawer that slides over a narrow page from the left. The focus stays in it until it closes. */
export function OpenedDrawer({ title, open, onClose, children }: DrawerProps) {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed inset-y-0 left-0 z-50 flex w-72 max-w-[85vw] flex-col border-r border-line bg-surface"
        >
          <Dialog.Title className="sr-only">{title}</Dialog.Title>
          <Dialog.Close asChild>
            <Button
              variant="ghost"
              size="icon"
              aria-label={`Close ${title.toLowerCase()}`}
              className="absolute top-3 right-3"
            >
              <X aria-hidden />
            </Button>
          </Dialog.Close>
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
