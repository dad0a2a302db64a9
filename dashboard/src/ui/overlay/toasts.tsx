import { Suspense, startTransition, useCallback, useState, useSyncExternalStore } from "react";
import { sentenceOf } from "../../api/problem.ts";
import { useBeginning } from "../deferred.tsx";
import { overlays } from "./overlays.ts";
import type { Toast } from "./toast-corner.tsx";

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

/** Says in a corner of the page that something was done. */
export function tellDone(text: string): void {
  change([...toasts, { id: ++lastId, tone: "success", text }]);
}

/** Says in a corner of the page why something was not done. */
export function tellFailure(error: unknown): void {
  change([...toasts, { id: ++lastId, tone: "danger", text: sentenceOf(error) }]);
}

const Corner = overlays.component(({ ToastCorner }) => ToastCorner);

/** The corner itself; rendered once. Its script comes after the page, which has nothing to say before someone uses it. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  const [isNeeded, setNeeded] = useState(false);
  const need = useCallback(() => startTransition(() => setNeeded(true)), []);
  useBeginning(need);
  return (
    (isNeeded || shown.length > 0) && (
      <Suspense fallback={null}>
        <Corner shown={shown} onGone={remove} />
      </Suspense>
    )
  );
}

function remove(id: number): void {
  change(toasts.filter((toast) => toast.id !== id));
}

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
