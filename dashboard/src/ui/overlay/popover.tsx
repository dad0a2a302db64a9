import { Suspense, useState } from "react";
import { ClosedTrigger } from "./closed-trigger.tsx";
import { overlays } from "./overlays.ts";
import type { PopoverProps } from "./props.ts";

const Opened = overlays.component(({ OpenedPopover }) => OpenedPopover);

/** A small form behind a button. Its script comes with the first that is opened. */
export function Popover(props: PopoverProps) {
  const [wasOpen, setWasOpen] = useState(props.open);
  const closed = (
    <ClosedTrigger
      trigger={props.trigger}
      opens="dialog"
      onNear={overlays.fetch}
      onOpen={() => {
        setWasOpen(true);
        props.onOpenChange(true);
      }}
    />
  );
  if (!wasOpen) return closed;
  return (
    <Suspense fallback={closed}>
      <Opened {...props} />
    </Suspense>
  );
}
