import {
  type KeyboardEvent,
  type ReactNode,
  startTransition,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { afterPaint, useShownFirst } from "./painted.ts";

export interface Tab {
  value: string;
  label: ReactNode;
  content: ReactNode;
}

/**
 * Parts of a page, one of which is shown. The tab that is pressed is marked before its part is rendered. Arrow keys, Home and End choose
 * a tab, as in the ARIA practices. Radix's tabs do the same, but set state when they mount, so that React runs all effects of the page
 * before it is painted for the first time.
 */
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
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [marked, mark] = useShownFirst(value, onChange);
  // On a narrow screen the tab may be outside of what is visible of the list. The page itself stays where it is.
  useEffect(() => {
    const tab = list.current?.querySelector<HTMLElement>(`[data-value="${CSS.escape(marked)}"]`);
    if (list.current && tab)
      list.current.scrollLeft = tab.offsetLeft - (list.current.clientWidth - tab.offsetWidth) / 2;
  }, [marked]);
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const at = tabs.findIndex((tab) => tab.value === marked);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    const next = to === undefined ? undefined : tabs.at(to % tabs.length);
    if (!next || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.currentTarget.querySelector<HTMLElement>(`[data-value="${CSS.escape(next.value)}"]`)?.focus();
    mark(next.value);
  };
  // On a narrow screen it may be beside what is seen of the list. Before the paint, reading where it is would cost a layout.
  useEffect(
    () =>
      afterPaint(() => {
        const tab = list.current?.querySelector<HTMLElement>(`[data-value="${CSS.escape(marked)}"]`);
        if (!tab || !list.current) return;
        const { scrollLeft, clientWidth } = list.current;
        const end = tab.offsetLeft + tab.offsetWidth;
        if (tab.offsetLeft < scrollLeft) list.current.scrollLeft = tab.offsetLeft;
        else if (end > scrollLeft + clientWidth) list.current.scrollLeft = end - clientWidth;
      }),
    [marked],
  );
  const content = useSettled(value, tabs.find((tab) => tab.value === value)?.content);
  return (
    <div>
      <div
        ref={list}
        role="tablist"
        aria-label={label}
        onKeyDown={move}
        className="scroll-hint relative flex gap-1 overflow-x-auto overflow-y-hidden border-b border-line [scrollbar-width:thin]"
      >
        {tabs.map((tab) => (
          <button
            key={tab.value}
            type="button"
            role="tab"
            id={`${id}${tab.value}`}
            data-value={tab.value}
            aria-selected={tab.value === marked}
            aria-controls={tab.value === marked ? `${id}panel` : undefined}
            tabIndex={tab.value === marked ? 0 : -1}
            onClick={() => mark(tab.value)}
            className="-mb-px border-b-2 border-transparent px-3 py-2.5 font-medium whitespace-nowrap text-muted outline-offset-[-2px] hover:text-ink aria-selected:border-accent-ink aria-selected:text-ink"
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${id}panel`}
        aria-labelledby={`${id}${marked}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it may have nothing else that takes the focus
        tabIndex={0}
        className="pt-6 outline-offset-4"
      >
        {content}
      </div>
    </div>
  );
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
