/** What is typed after something was asked to open and before it has a field. */
export interface TypedEarly {
  /** Keeps what is typed from now on away from the page. @returns a function that gives the keys back to the page */
  begin(): () => void;
  /** Returns what was typed, and gives the keys back to the page. */
  take(): string;
}

/** What of a KeyboardEvent says which key it is. */
interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  isComposing: boolean;
}

/** @param keys where keys are pressed */
export function createTypedEarly(keys: Pick<EventTarget, "addEventListener" | "removeEventListener">): TypedEarly {
  let text = "";
  const onKey = (event: Event) => {
    const { key, ctrlKey, metaKey, altKey, isComposing } = event as Event & Pressed;
    if (ctrlKey || metaKey || altKey || isComposing) return;
    // Longer names are those of keys that write nothing.
    if ([...key].length === 1) text += key;
    else if (key === "Backspace") text = [...text].slice(0, -1).join("");
    // Whoever moves on or gives up no longer waits for the field.
    else if (key === "Tab" || key === "Escape") return end();
    else if (key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
  };
  const end = () => keys.removeEventListener("keydown", onKey, true);
  return {
    begin: () => {
      text = "";
      keys.addEventListener("keydown", onKey, true);
      return end;
    },
    take: () => {
      end();
      const taken = text;
      text = "";
      return taken;
    },
  };
}
