import { hideOthers } from "aria-hidden";
import { clsx } from "clsx";
import { DismissableLayer, FocusScope } from "radix-ui/internal";
import { type ReactNode, type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";

/**
 * What lies over the page and keeps the focus. It is what Radix's dialog is made of, except that it leaves the styles of the page's
 * body alone: their change makes a browser style every element again, when it opens and when it closes.
 * @param isShown whether it is still open; it is hidden as soon as it is not
 * @param closesOutside whether a press beside it closes it
 * @param opener gets the focus back; if it is gone by then, the page gets it
 * @param names the attributes that name it
 */
export function Modal({
  isShown,
  onClose,
  closesOutside = true,
  opener,
  className,
  children,
  ...names
}: {
  isShown: boolean;
  onClose: () => void;
  closesOutside?: boolean;
  opener: RefObject<HTMLElement | null>;
  className: string;
  children: ReactNode;
  "aria-label"?: string;
  "aria-labelledby"?: string;
  "aria-describedby"?: string | undefined;
}) {
  const box = useRef<HTMLDivElement>(null);
  // Read before this is in the page, because the browser knows the page's layout until then.
  const [hasScrollbar] = useState(() => window.innerWidth > document.documentElement.clientWidth);
  useLayoutEffect(() => (isShown ? keepStill(hasScrollbar) : undefined), [isShown, hasScrollbar]);
  useEffect(() => (isShown && box.current ? hideOthers(box.current) : undefined), [isShown]);
  const giveBack = useCallback(() => {
    const focused = document.activeElement;
    // Another page may have taken it.
    if (focused !== document.body && !box.current?.contains(focused)) return;
    const next = opener.current?.isConnected ? opener.current : document.getElementById("content");
    next?.focus();
  }, [opener]);
  useEffect(() => {
    if (!isShown) giveBack();
  }, [isShown, giveBack]);
  return createPortal(
    <div hidden={!isShown}>
      <Backdrop />
      <FocusScope.Root
        asChild
        loop
        trapped={isShown}
        onMountAutoFocus={(event) => {
          event.preventDefault();
          focusFirst(box.current);
        }}
        onUnmountAutoFocus={(event) => {
          event.preventDefault();
          giveBack();
        }}
      >
        <DismissableLayer.Root
          ref={box}
          role="dialog"
          aria-modal
          {...names}
          onDismiss={onClose}
          onPointerDownOutside={(event) => closesOutside || event.preventDefault()}
          onFocusOutside={(event) => event.preventDefault()}
          className={clsx("fixed z-50 outline-none", className)}
        >
          {children}
        </DismissableLayer.Root>
      </FocusScope.Root>
    </div>,
    document.body,
  );
}

/** Darkens the page, which takes no presses of the pointer under it. */
export function Backdrop() {
  return <div className="fixed inset-0 z-40 overscroll-contain bg-black/45" />;
}

/** Where there is something to fill in, the focus begins there instead of at the button that closes. */
function focusFirst(box: HTMLElement | null): void {
  const first =
    box?.querySelector<HTMLElement>("input, textarea") ??
    box?.querySelector<HTMLElement>("button:not([aria-label='Close'], :disabled), a[href]");
  (first ?? box)?.focus();
}

let modals = 0;

/**
 * What is under a modal does not scroll.
 * @param hasScrollbar whether the room of a scrollbar stays, so that the page keeps its width
 * @returns a function that lets it scroll again
 */
function keepStill(hasScrollbar: boolean): () => void {
  const { style } = document.documentElement;
  modals++;
  if (hasScrollbar) style.scrollbarGutter = "stable";
  style.overflow = "hidden";
  return () => {
    if (--modals === 0) style.overflow = style.scrollbarGutter = "";
  };
}
