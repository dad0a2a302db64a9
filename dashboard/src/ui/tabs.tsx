import { Tabs as Radix } from "radix-ui";
import { type MouseEvent, type ReactNode, useEffect, useRef } from "react";

export interface Tab {
  value: string;
  label: ReactNode;
  content: ReactNode;
}

/** Parts of a page, one of which is shown. */
export function Tabs({
  label,
  tabs,
  value,
  onChange,
}: {
  label: string;
  tabs: readonly Tab[];
  value: string;
  onChange: (value: string) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  // On a narrow screen the tab may be outside of what is visible of the list. The page itself stays where it is.
  useEffect(() => {
    const tab = list.current?.querySelector<HTMLElement>('[data-state="active"]');
    if (list.current && tab)
      list.current.scrollLeft = tab.offsetLeft - (list.current.clientWidth - tab.offsetWidth) / 2;
  }, [value]);
  return (
    <Radix.Root value={value} onValueChange={onChange}>
      <Radix.List ref={list} aria-label={label} className="relative flex gap-1 overflow-x-auto border-b border-line">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            onMouseDown={focusWithoutRing}
            className="-mb-px border-b-2 border-transparent px-3 py-2.5 font-medium whitespace-nowrap text-muted outline-offset-[-2px] hover:text-ink data-[state=active]:border-accent-ink data-[state=active]:text-ink"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.value} value={tab.value} className="pt-6 outline-offset-4">
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}

/**
 * The tab's own handler focuses it by script, for which browsers draw the ring of the keyboard if nothing had the focus before. An element
 * that has the focus already is left as it is.
 */
function focusWithoutRing({ button, currentTarget }: MouseEvent<HTMLElement>): void {
  if (button === 0) currentTarget.focus({ focusVisible: false });
}
