import { Suspense, useRef, useState } from "react";
import { overlays } from "./overlays.ts";
import type { DialogProps } from "./props.ts";

const Opened = overlays.component(({ OpenedDialog }) => OpenedDialog);

/** A window over the page. The focus moves into it, and back when it closes. Its script is not among the page's first. */
export function Dialog(props: DialogProps) {
  const [wasOpen, setWasOpen] = useState(props.open);
  const opener = useRef<HTMLElement>(null);
  const isOpen = useRef(false);
  if (props.open && !wasOpen) setWasOpen(true);
  // Read before the page changes: a menu that the dialog was chosen from is gone once it has.
  if (props.open && !isOpen.current) opener.current = openerOf(document.activeElement);
  isOpen.current = props.open;
  if (!wasOpen) return null;
  return (
    <Suspense fallback={null}>
      <Opened {...props} opener={opener} />
    </Suspense>
  );
}

/** The focused element, or the button of the menu that it is in. */
function openerOf(focused: Element | null): HTMLElement | null {
  const menu = focused?.closest('[role="menu"]');
  const found = menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : focused;
  return found instanceof HTMLElement && found !== document.body ? found : null;
}
