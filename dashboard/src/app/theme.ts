import { useSyncExternalStore } from "react";
import { applyTheme, storedTheme, storeTheme, type Theme } from "./stored-theme.ts";

const listeners = new Set<() => void>();

/** The theme that the viewer chose, and a function to choose another. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  return [useSyncExternalStore(subscribe, storedTheme, () => "system"), chooseTheme];
}

function chooseTheme(theme: Theme): void {
  storeTheme(theme);
  applyTheme();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
