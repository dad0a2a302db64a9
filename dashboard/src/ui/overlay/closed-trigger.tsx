import { cloneElement, type HTMLAttributes, type KeyboardEvent, type ReactElement } from "react";

/** A button that opens something. */
export type Trigger = ReactElement<HTMLAttributes<HTMLElement>>;

/**
 * The button of a menu or dialog that was never open: it names what it opens, without loading its script.
 * @param isOpening whether it has been pressed, which shows before what it opens
 * @param onNear called when it may be used soon
 * @param onOpen called with whether a key opens it
 */
export function ClosedTrigger({
  trigger,
  opens,
  isOpening,
  onNear,
  onOpen,
}: {
  trigger: Trigger;
  opens: "menu" | "dialog";
  isOpening: boolean;
  onNear: () => void;
  onOpen: (byKey: boolean) => void;
}) {
  return cloneElement(trigger, {
    "aria-haspopup": opens,
    "aria-expanded": isOpening,
    onPointerEnter: onNear,
    onFocus: onNear,
    // Keys click without a press of the pointer.
    onClick: ({ detail }) => onOpen(detail === 0),
    ...(opens === "menu" && {
      onKeyDown: (event: KeyboardEvent) => {
        if (event.key !== "ArrowDown") return;
        event.preventDefault();
        onOpen(true);
      },
    }),
  });
}
