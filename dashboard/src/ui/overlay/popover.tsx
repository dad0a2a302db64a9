import { Suspense, useEffect, useState } from "react";
import { afterPaint } from "../painted.ts";
import { ClosedTrigger } from "./closed-trigger.tsx";
import { overlays } from "./overlays.ts";
import type { PopoverProps } from "./props.ts";

const Opened = overlays.component(({ OpenedPopover }) => OpenedPopover);

/** A small form behind a button. Its script comes with the first that is opened. */
export function Popover(props: PopoverProps) {
  const [wasOpen, setWasOpen] = useState(props.open);
  useEffect(() => (props.open && !wasOpen ? afterPaint(() => setWasOpen(true)) : undefined), [props.open, wasOpen]);
  const closed = (
    <ClosedTrigger
      trigger={props.trigger}
      opens="dialog"
      isOpening={props.open}
      onNear={overlays.fetch}
      onOpen={() => props.onOpenChange(true)}
    />
  );
  if (!wasOpen) return closed;
  return (
    <Suspense fallback={closed}>
      <Opened {...props} />
    </Suspense>
  );
}
