import { Suspense, useState } from "react";
import { deferred } from "../deferred.ts";
import { ClosedTrigger } from "./closed-trigger.tsx";
import type { PopoverProps } from "./props.ts";

const opened = deferred<PopoverProps>(async () => (await import("./opened.ts")).OpenedPopover);

/** A small form behind a button. Its script comes with the first that is opened. */
export function Popover(props: PopoverProps) {
  const [wasOpen, setWasOpen] = useState(props.open);
  const closed = (
    <ClosedTrigger
      trigger={props.trigger}
      opens="dialog"
      onNear={opened.fetch}
      onOpen={() => {
        setWasOpen(true);
        props.onOpenChange(true);
      }}
    />
  );
  if (!wasOpen) return closed;
  return (
    <Suspense fallback={closed}>
      <opened.Component {...props} />
    </Suspense>
  );
}
