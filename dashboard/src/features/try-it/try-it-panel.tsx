import { type ReactNode, useLayoutEffect, useRef } from "react";
import { afterPaint } from "../../ui/painted.ts";

/** From here on there is room for it beside the editor, as the class `xl` has it. */
const BESIDE = "(width >= 80rem)";

/** What is chosen, or filled in. */
const FIRST = '[role="tab"][aria-selected="true"], form :is(input, select, textarea)';

/**
 * Holds what tries an agent or a tool: beside the editor, or over the page on a narrow screen, where the focus stays in it until it is closed.
 * @param children get the function that closes it
 */
export function TryItPanel({ onClose, children }: { onClose: () => void; children: (close: () => void) => ReactNode }) {
  const panel = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = panel.current;
    if (!dialog) return;
    const media = window.matchMedia(BESIDE);
    const show = () => {
      const focused = document.activeElement;
      if (dialog.open) dialog.close();
      if (media.matches) dialog.show();
      else dialog.showModal();
      if (focused instanceof HTMLElement && dialog.contains(focused)) focused.focus();
      // A dialog gives the focus to its first button, which may be of what is not shown.
      else dialog.querySelector<HTMLElement>(FIRST)?.focus();
    };
    show();
    media.addEventListener("change", show);
    return () => media.removeEventListener("change", show);
  }, []);
  const close = () => {
    // Gives the focus back, and hides the panel before it is removed.
    panel.current?.close();
    afterPaint(onClose);
  };
  return (
    <dialog
      ref={panel}
      aria-label="Try it"
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      className="m-0 flex h-dvh max-h-none w-full max-w-none flex-col border-line bg-surface p-0 text-ink backdrop:bg-black/45 max-xl:fixed max-xl:inset-y-0 max-xl:right-0 max-xl:left-auto max-xl:shadow-2xl sm:w-104 sm:border-l xl:sticky xl:top-0"
    >
      {children(close)}
    </dialog>
  );
}
