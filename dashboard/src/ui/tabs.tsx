import { Tabs as Radix } from "radix-ui";
import { type MouseEvent, type ReactNode, startTransition, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useShownFirst } from "./painted.ts";

export interface Tab {
  value: string;
  label: ReactNode;
  content: ReactNode;
}

/** Parts of a page, one of which is shown. The tab that is pressed is marked before its part is rendered. */
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
  const [marked, mark] = useShownFirst(value, onChange);
  // On a narrow screen the tab may be outside of what is visible of the list. The page itself stays where it is.
  useEffect(() => {
    const tab = list.current?.querySelector<HTMLElement>('[data-state="active"]');
    if (list.current && tab)
      list.current.scrollLeft = tab.offsetLeft - (list.current.clientWidth - tab.offsetWidth) / 2;
  }, [marked]);
  const content = useSettled(value, tabs.find((tab) => tab.value === value)?.content);
  return (
    <Radix.Root value={marked} onValueChange={mark}>
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
      <Radix.Content value={marked} className="pt-6 outline-offset-4">
        {content}
      </Radix.Content>
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

/** The content of a value; while another value's is rendered, which other work may interrupt, still that of the one before. */
function useSettled(value: string, content: ReactNode): ReactNode {
  const [settled, setSettled] = useState(value);
  const last = useRef(content);
  const isSettled = settled === value;
  useLayoutEffect(() => {
    if (isSettled) last.current = content;
  });
  useEffect(() => startTransition(() => setSettled(value)), [value]);
  return isSettled ? content : last.current;
}
