import { useQueryClient } from "@tanstack/react-query";
import { type ComponentType, lazy, useEffect, useState } from "react";

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
      const Later = lazy(async () => ({ default: pick(await get()) }));
      return function Deferred(props: Props) {
        // React shows a lazy component's fallback even if its script is loaded, and paints twice.
        const [Shown] = useState<ComponentType<Props>>(() => (loaded ? pick(loaded) : Later));
        return <Shown {...props} />;
      };
    },
  };
}

const BEGINNINGS = ["pointermove", "pointerdown", "keydown"] as const;

/**
 * Calls back once, when the page has its data and the browser has nothing to do, so that nobody waits for it; or when someone begins to
 * use the page before that.
 */
export function useRest(rested: () => void): void {
  const client = useQueryClient();
  useEffect(() => {
    let cancelIdle = () => {};
    const rest = () => {
      stop();
      rested();
    };
    const check = () => {
      if (client.isFetching() > 0) return;
      unsubscribe();
      cancelIdle = whenIdle(rest);
    };
    const unsubscribe = client.getQueryCache().subscribe(check);
    const stop = () => {
      unsubscribe();
      cancelIdle();
      for (const beginning of BEGINNINGS) window.removeEventListener(beginning, rest);
    };
    for (const beginning of BEGINNINGS) window.addEventListener(beginning, rest);
    check();
    return stop;
  }, [client, rested]);
}

function whenIdle(then: () => void): () => void {
  // Safari has no idle callbacks.
  if (!globalThis.requestIdleCallback) {
    const timer = setTimeout(then, 200);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(then);
  return () => cancelIdleCallback(handle);
}
