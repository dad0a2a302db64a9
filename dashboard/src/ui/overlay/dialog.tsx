import { useRef } from "react";
import { OpenedDialog } from "./opened-dialog.tsx";
import { Presence } from "./presence.tsx";
import type { DialogProps } from "./props.ts";

/** A window over the page. The focus moves into it, and back when it closes. */
export function Dialog(props: DialogProps) {
  // What closes it may change what it shows, which stays until it is gone.
  const lastOpen = useRef(props);
  if (props.open) lastOpen.current = props;
  return (
    <Presence open={props.open} onClose={props.onClose}>
      {(isShown, opener) => <OpenedDialog {...lastOpen.current} open={isShown} opener={opener} />}
    </Presence>
  );
}
