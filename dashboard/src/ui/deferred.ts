import { type ComponentType, type LazyExoticComponent, lazy, useEffect } from "react";

export interface Deferred<Props extends object> {
  Component: LazyExoticComponent<ComponentType<Props>>;
  /** Fetches its script, so that it is there when it is shown. */
  fetch(): void;
}

/** A component whose script comes after the page, which shows without it. @param load imports the component */
export function deferred<Props extends object>(load: () => Promise<ComponentType<Props>>): Deferred<Props> {
  return {
    Component: lazy(async () => ({ default: await load() })),
    fetch: () => void load().catch(() => {}),
  };
}

/** Fetches what a page may show later, once the browser has nothing else to do. */
export function useFetchedWhenIdle({ fetch }: Pick<Deferred<object>, "fetch">): void {
  useEffect(() => {
    // Safari has no idle callbacks.
    if (!("requestIdleCallback" in window)) return void fetch();
    const waiting = requestIdleCallback(fetch);
    return () => cancelIdleCallback(waiting);
  }, [fetch]);
}
