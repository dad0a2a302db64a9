import { Suspense, useEffect, useState } from "react";
import { afterPaint } from "../painted.ts";
import { ClosedTrigger } from "./closed-trigger.tsx";
import { overlays } from "./overlays.ts";
import type { MenuProps } from "./props.ts";

const Opened = overlays.component(({ OpenedMenu }) => OpenedMenu);

/** Choices behind a button. Its script comes with the first that is opened: a list may have a menu in every row. */
export function Menu(props: MenuProps) {
  const [wanted, setWanted] = useState<{ byKey: boolean } | null>(null);
  const [opened, setOpened] = useState(wanted);
  useEffect(() => (wanted ? afterPaint(() => setOpened(wanted)) : undefined), [wanted]);
  const closed = (
    <ClosedTrigger
      trigger={props.trigger}
      opens="menu"
      isOpening={wanted !== null}
      onNear={overlays.fetch}
      onOpen={(byKey) => setWanted({ byKey })}
    />
  );
  if (!opened) return closed;
  return (
    <Suspense fallback={closed}>
      <Opened {...props} {...opened} />
    </Suspense>
  );
}

/** The content of a menu, which exists only once it is open. */
export const MenuItem = overlays.component(({ OpenedItem }) => OpenedItem);
export const MenuLine = overlays.component(({ OpenedLine }) => OpenedLine);
export const MenuLabel = overlays.component(({ OpenedLabel }) => OpenedLabel);
