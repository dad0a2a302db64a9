import { useEffect, useRef } from "react";

/** Saves on Ctrl+S, or ⌘S, in place of the browser's own dialog. @param save null while there is nothing to save */
export function useSaveShortcut(save: (() => unknown) | null): void {
  const current = useRef(save);
  useEffect(() => {
    current.current = save;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "s")
        return;
      event.preventDefault();
      current.current?.();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
