import { clsx } from "clsx";
import { DropdownMenu as Radix } from "radix-ui";
import { type FocusEvent, type ReactNode, useRef } from "react";
import { afterPaint } from "../painted.ts";
import type { MenuItemProps, MenuProps } from "./props.ts";

/** A menu that begins open. @param byKey whether a key opened it, so that its first item takes the focus */
export function OpenedMenu({ trigger, children, align = "end", byKey }: MenuProps & { byKey: boolean }) {
  // Radix saw no key of the press that brought it here.
  const isFirst = useRef(byKey);
  const focusItem = ({ target, currentTarget }: FocusEvent<HTMLElement>) => {
    if (!isFirst.current || target !== currentTarget) return;
    isFirst.current = false;
    currentTarget.querySelector<HTMLElement>('[role="menuitem"]:not([data-disabled])')?.focus();
  };
  return (
    <Radix.Root defaultOpen modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          onFocus={focusItem}
          className="z-50 min-w-44 rounded-lg border border-line bg-raised p-1 shadow-lg"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

const ITEM =
  "flex w-full cursor-default items-center gap-2 rounded-md px-2.5 py-1.5 outline-none select-none data-highlighted:bg-hover data-disabled:opacity-50 [&_svg]:size-4 [&_svg]:text-muted";

export function OpenedItem({ onSelect, danger = false, disabled = false, children }: MenuItemProps) {
  return (
    <Radix.Item
      disabled={disabled}
      // The menu is gone before what was chosen begins.
      onSelect={() => void afterPaint(onSelect)}
      className={clsx(ITEM, danger && "text-danger-ink [&_svg]:text-danger-ink")}
    >
      {children}
    </Radix.Item>
  );
}

export function OpenedLine() {
  return <Radix.Separator className="my-1 h-px bg-line" />;
}

export function OpenedLabel({ children }: { children: ReactNode }) {
  return <Radix.Label className="px-2.5 py-1.5 text-xs text-muted">{children}</Radix.Label>;
}
