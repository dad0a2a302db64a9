import { type MouseEvent, useCallback, useEffect, useRef, useState } from "react";

/**
 * Calls back, in a task of its own, once the browser has painted what changed so far. So a press is visible before any longer work
 * begins.
 * @returns a function that cancels the call
 */
export function afterPaint(then: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const frame = requestAnimationFrame(() => {
    timer = setTimeout(then);
  });
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}

/**
 * Lets a link show that it is pressed before the page that it leads to is rendered, which is soon if its data is known. The browser
 * still opens it in another tab or window when asked to.
 * @param follow goes there
 */
export function followedAfterPaint(follow: () => void): (event: MouseEvent) => void {
  return (event) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    afterPaint(follow);
  };
}

/**
 * A value that is shown as soon as it is chosen, while its owner, such as the page's address, learns of it only after the paint.
 * @returns the value to show, and a function that chooses another
 */
export function useShownFirst<Value>(value: Value, onChange: (value: Value) => void): [Value, (next: Value) => void] {
  const [chosen, setChosen] = useState<{ value: Value; instead: Value } | null>(null);
  const owner = useRef({ value, onChange });
  const cancel = useRef<() => void>(undefined);
  useEffect(() => {
    owner.current = { value, onChange };
  });
  useEffect(() => () => cancel.current?.(), []);
  // The owner has learned of it, or has another value by now.
  if (chosen && chosen.instead !== value) setChosen(null);
  const choose = useCallback((next: Value) => {
    // Of several in a row, the owner learns only of the last one.
    cancel.current?.();
    setChosen({ value: next, instead: owner.current.value });
    cancel.current = afterPaint(() => owner.current.onChange(next));
  }, []);
  return [chosen ? chosen.value : value, choose];
}
