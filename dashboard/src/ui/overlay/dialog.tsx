import { startTransition, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { afterPaint } from "../painted.ts";
import { Backdrop } from "./modal.tsx";
import { OpenedDialog } from "./opened-dialog.tsx";
import type { DialogProps } from "./props.ts";

/**
 * A window over the page. The focus moves into it, and back when it closes. A press darkens the page first; the window is rendered
 * after that paint, and hidden before it is removed, because both take longer than a press should.
 */
export function Dialog(props: DialogProps) {
  const { open } = props;
  // A dialog that opens together with its page needs no frame: nobody waits for it.
  const [isThere, setThere] = useState(open);
  const lastOpen = useRef(props);
  const opener = useRef<HTMLElement>(null);
  const wasOpen = useRef(false);
  if (open) lastOpen.current = props;
  // Read before the page changes: a menu that the dialog was chosen from is gone once it has.
  if (open && !wasOpen.current) opener.current = openerOf(document.activeElement);
  wasOpen.current = open;
  useEffect(
    () => (open === isThere ? undefined : afterPaint(() => startTransition(() => setThere(open)))),
    [open, isThere],
  );
  if (!isThere) return open && createPortal(<Backdrop />, document.body);
  return <OpenedDialog {...lastOpen.current} open={open} opener={opener} />;
}

/** The focused element, or the button of the menu that it is in. */
function openerOf(focused: Element | null): HTMLElement | null {
  const menu = focused?.closest('[role="menu"]');
  const found = menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : focused;
  return found instanceof HTMLElement && found !== document.body ? found : null;
}
