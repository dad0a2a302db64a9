import { useRef } from "react";
import { afterPaint } from "../painted.ts";

/**
 * Leads whoever saves to what is in the way: to the first field that is wrong, or else to the first message.
 * @param save whether it saved
 * @returns the element to look in, and what saves
 */
export function useShownFault(save: () => Promise<boolean>) {
  const form = useRef<HTMLDivElement>(null);
  const shownSave = async () => {
    const isSaved = await save();
    if (!isSaved) afterPaint(() => form.current && showFault(form.current));
    return isSaved;
  };
  return [form, shownSave] as const;
}

function showFault(form: HTMLElement): void {
  const field = form.querySelector<HTMLElement>('[aria-invalid="true"]');
  field?.focus({ preventScroll: true });
  // A header covers the top.
  (field ?? form.querySelector('[role="alert"]'))?.scrollIntoView({ block: "center" });
}
