import { clsx } from "clsx";
import { createContext, type ReactNode, use, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { fieldsOf, sentenceOf } from "../../api/problem.ts";
import { afterPaint } from "../painted.ts";
import { Notice } from "../states.tsx";

/** The messages that the fields of a form show. */
const Told = createContext<readonly string[]>([]);
const Tell = createContext<(message: string) => () => void>(() => () => {});

/** Around a form whose refusal is told once: at the fields that it is about, and in its `Refusal` as far as no field shows it. */
export function Refusable({ children }: { children: ReactNode }) {
  const [told, setTold] = useState<readonly string[]>([]);
  const tell = useCallback((message: string) => {
    setTold((all) => [...all, message]);
    return () => setTold((all) => all.toSpliced(all.indexOf(message), 1));
  }, []);
  return (
    <Tell value={tell}>
      <Told value={told}>{children}</Told>
    </Tell>
  );
}

/** Tells the form that a field shows this message. */
export function useTold(message: ReactNode): void {
  const tell = use(Tell);
  useLayoutEffect(() => (typeof message === "string" ? tell(message) : undefined), [tell, message]);
}

/**
 * Why the form around it was refused, except for what its fields say. Leads to the first of those fields, or else here.
 * @param way leads to where a field is that is not shown now, by its path
 */
export function Refusal({
  error,
  begins = "",
  way,
  className,
}: {
  error: Error | null;
  begins?: string;
  way?: (path: string) => ReactNode;
  className?: string;
}) {
  const told = use(Told);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error) return afterPaint(() => place.current && showFault(place.current, told.length > 0));
  }, [error, told]);
  const left = untold(error, told);
  return (
    <div ref={place} className={clsx("empty:hidden", className)}>
      {left.length > 0 && (
        <Notice tone="danger">
          {left.map(({ path, message }, at) => (
            <p key={path}>
              {at === 0 && begins}
              {message} {path !== null && way?.(path)}
            </p>
          ))}
        </Notice>
      )}
    </div>
  );
}

/** What a refusal says beside the messages that are told at fields. */
export function untold(error: Error | null, told: readonly string[]): { path: string | null; message: string }[] {
  if (error === null) return [];
  const fields = [...fieldsOf(error)].map(([path, message]) => ({ path, message }));
  const left = fields.filter(({ message }) => !told.includes(message));
  const sentence = sentenceOf(error);
  const isSummed = left.length === fields.length && left.every(({ message }) => message !== sentence);
  return isSummed ? [{ path: null, message: sentence }, ...left] : left;
}

function showFault(refusal: HTMLElement, isTold: boolean): void {
  const form = isTold ? refusal.closest("form, [data-form]") : null;
  const field = form?.querySelector<HTMLElement>('[aria-invalid="true"]');
  field?.focus({ preventScroll: true });
  // A header covers the top.
  (field ?? form?.querySelector('[role="alert"]') ?? refusal).scrollIntoView({ block: "center" });
}
