import { type ReactNode, Suspense, useState } from "react";
import { deferred } from "../deferred.ts";
import { ClosedTrigger } from "./closed-trigger.tsx";
import type { MenuItemProps, MenuProps } from "./props.ts";

const load = () => import("./opened.ts");
const opened = deferred<MenuProps & { byKey: boolean }>(async () => (await load()).OpenedMenu);

/** Choices behind a button. Its script comes with the first that is opened: a list may have a menu in every row. */
export function Menu(props: MenuProps) {
  const [wanted, setWanted] = useState<{ byKey: boolean } | null>(null);
  const closed = (
    <ClosedTrigger
      trigger={props.trigger}
      opens="menu"
      onNear={opened.fetch}
      onOpen={(byKey) => setWanted({ byKey })}
    />
  );
  if (!wanted) return closed;
  return (
    <Suspense fallback={closed}>
      <opened.Component {...props} {...wanted} />
    </Suspense>
  );
}

/** The content of a menu, which exists only once it is open. */
export const MenuItem = deferred<MenuItemProps>(async () => (await load()).OpenedItem).Component;
export const MenuLine = deferred(async () => (await load()).OpenedLine).Component;
export const MenuLabel = deferred<{ children: ReactNode }>(async () => (await load()).OpenedLabel).Component;
