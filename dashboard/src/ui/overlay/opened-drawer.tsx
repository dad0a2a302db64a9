import { X } from "lucide-react";
import { useRef } from "react";
import { Button } from "../button.tsx";
import { Modal } from "./modal.tsx";
import type { DrawerProps } from "./props.ts";

/** A drawer that slides over a narrow page from the left. The focus stays in it until it closes. */
export function OpenedDrawer({ title, open, onClose, children }: DrawerProps) {
  return open ? (
    <Drawer title={title} onClose={onClose}>
      {children}
    </Drawer>
  ) : null;
}

function Drawer({ title, onClose, children }: Omit<DrawerProps, "open">) {
  const opener = useRef(document.activeElement instanceof HTMLElement ? document.activeElement : null);
  return (
    <Modal
      isShown
      onClose={onClose}
      opener={opener}
      aria-label={title}
      className="inset-y-0 left-0 flex w-72 max-w-[85vw] flex-col border-r border-line bg-surface"
    >
      <Button
        variant="ghost"
        size="icon"
        aria-label={`Close ${title.toLowerCase()}`}
        className="absolute top-3 right-3"
        onClick={onClose}
      >
        <X aria-hidden />
      </Button>
      {children}
    </Modal>
  );
}
