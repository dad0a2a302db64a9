import { type ComponentType, lazy, useEffect, useState } from "react";
import { Button } from "./button.tsx";

export interface DeferredScript<Module> {
  /** Fetches the script, so that it is ready when a component of it is shown. */
  fetch(): void;
  /** A component of the script; suspends until the script has loaded. */
  component<Props extends object>(pick: (module: Module) => ComponentType<Props>): ComponentType<Props>;
}

/** A script that loads after the page, which shows without it. @param load imports it */
export function deferredScript<Module>(load: () => Promise<Module>): DeferredScript<Module> {
  let loaded: Module | null = null;
  const get = async () => {
    loaded ??= await load();
    return loaded;
  };
  return {
    fetch: () => void get().catch(() => {}),
    component<Props extends object>(pick: (module: Module) => ComponentType<Props>) {
      const Later = lazy(async () => ({ default: await get().then(pick, () => NotLoaded) }));
      return function Deferred(props: Props) {
        // React shows a lazy component's fallback even if its script is loaded, and paints twice.
        const [Shown] = useState<ComponentType<Props>>(() => (loaded ? pick(loaded) : Later));
        return <Shown {...props} />;
      };
    },
  };
}

/** Shown when the connection was lost, or the server was upgraded and no longer has the scripts of the page as it was. */
function NotLoaded() {
  return (
    <div
      role="alert"
      className="fixed right-4 bottom-4 z-50 flex w-[calc(100vw-2rem)] max-w-sm flex-wrap items-center gap-3 rounded-lg border border-line bg-raised px-3.5 py-2.5 shadow-lg"
    >
      <p className="min-w-0 flex-1">Part of this page could not be loaded. Save your changes, then reload the page.</p>
      <Button size="small" onClick={() => location.reload()}>
        Reload
      </Button>
    </div>
  );
}

const BEGINNINGS = ["pointermove", "pointerdown", "keydown"] as const;

/** How long after that, in milliseconds: a press may come with the first movement of the pointer, and is answered before. */
const MOMENT_MS = 300;

/** Calls back once, a moment after someone has begun to use the page, when the browser has nothing else to do. */
export function useBeginning(begun: () => void): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let cancel = () => {};
    const stop = () => {
      for (const beginning of BEGINNINGS) window.removeEventListener(beginning, begin);
    };
    const begin = () => {
      stop();
      timer = setTimeout(() => {
        cancel = whenIdle(begun);
      }, MOMENT_MS);
    };
    for (const beginning of BEGINNINGS) window.addEventListener(beginning, begin);
    return () => {
      stop();
      clearTimeout(timer);
      cancel();
    };
  }, [begun]);
}

function whenIdle(then: () => void): () => void {
  // Safari has no idle callbacks.
  if (!globalThis.requestIdleCallback) {
    const timer = setTimeout(then, 100);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(then);
  return () => cancelIdleCallback(handle);
}
