import { useEffect, useRef, useState } from "react";
import { afterPaint } from "../painted.ts";
import { OpenedDialog } from "./opened-dialog.tsx";
import type { DialogProps } from "./props.ts";

/**
 * A window over the page. The focus moves into it, and back when it closes. It shows before its content is rendered, and is
 * hidden before its content is removed, because both take longer than a press should.
 */
export function Dialog(props: DialogProps) {
  const { open } = props;
  const [isThere, setThere] = useState(open);
  // A dialog that opens together with its page needs no frame: nobody waits for it.
  const [isPressed] = useState(!open);
  const lastOpen = useRef(props);
  const opener = useRef<HTMLElement>(null);
  const wasOpen = useRef(false);
  if (open && !isThere) setThere(true);
  if (open) lastOpen.current = props;
  // Read before the page changes: a menu that the dialog was chosen from is gone once it has.
  if (open && !wasOpen.current) opener.current = openerOf(document.activeElement);
  wasOpen.current = open;
  useEffect(() => (open || !isThere ? undefined : afterPaint(() => setThere(false))), [open, isThere]);
  if (!isThere) return null;
  return <OpenedDialog {...lastOpen.current} open={open} isPressed={isPressed} opener={opener} />;
}

/** The focused element, or the button of the menu that it is in. */
function openerOf(focused: Element | null): HTMLElement | null {
  const menu = focused?.closest('[role="menu"]');
  const found = menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : focused;
  return found instanceof HTMLElement && found !== document.body ? found : null;
}
