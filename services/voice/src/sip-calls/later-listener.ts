import type { LegListener } from "../transport/leg.ts";

/** Listens to a leg for whoever comes later. What is said before is not heard; keys, holds and the end are kept. */
export function laterListener(): { listener: LegListener; connect(to: LegListener): void } {
  let to: LegListener | null = null;
  const before: ((to: LegListener) => void)[] = [];
  const tell = (what: (to: LegListener) => void) => {
    if (to) what(to);
    else before.push(what);
  };
  return {
    listener: {
      heard: (frame) => to?.heard(frame),
      pressed: (key) => tell((listener) => listener.pressed(key)),
      reached: (mark) => tell((listener) => listener.reached(mark)),
      held: (isOnHold) => tell((listener) => listener.held?.(isOnHold)),
      sending: (frame, inMs) => (to ? to.sending(frame, inMs) : frame),
      ended: (how) => tell((listener) => listener.ended(how)),
    },
    connect: (listener) => {
      to = listener;
      for (const what of before.splice(0)) what(listener);
    },
  };
}
