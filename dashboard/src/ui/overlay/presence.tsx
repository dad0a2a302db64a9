import { type ReactNode, type RefObject, startTransition, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { afterPaint } from "../painted.ts";
import { Backdrop } from "./modal.tsx";

/**
 * Holds what lies over the page from its opening until it is closed. A press darkens the page first; the content is rendered after that
 * paint, and hidden before it is removed, because both take longer than a press should. Escape closes it from the first moment.
 * @param children get whether it is still open, and the element that had the focus before it opened
 */
export function Presence({
  open,
  onClose,
  children,
}: {
  open: boolean;
  onClose: () => void;
  children: (isShown: boolean, opener: RefObject<HTMLElement | null>) => ReactNode;
}) {
  // What opens together with its page needs no frame: nobody waits for it.
  const [isThere, setThere] = useState(open);
  const opener = useRef<HTMLElement>(null);
  const wasOpen = useRef(false);
  // Read before the page changes: a menu that it was chosen from is gone once it has.
  if (open && !wasOpen.current) opener.current = openerOf(document.activeElement);
  wasOpen.current = open;
  useEffect(
    () => (open === isThere ? undefined : afterPaint(() => startTransition(() => setThere(open)))),
    [open, isThere],
  );
  const isOpening = open && !isThere;
  useEffect(() => {
    if (!isOpening) return;
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && onClose();
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [isOpening, onClose]);
  if (!isThere) return open && createPortal(<Backdrop />, document.body);
  return children(open, opener);
}

/** The focused element, or the button of the menu that it is in. */
function openerOf(focused: Element | null): HTMLElement | null {
  const menu = focused?.closest('[role="menu"]');
  const found = menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : focused;
  return found instanceof HTMLElement && found !== document.body ? found : null;
}
