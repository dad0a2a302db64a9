import { useSyncExternalStore } from "react";

export const THEMES = { system: "System", light: "Light", dark: "Dark" } as const;
export type Theme = keyof typeof THEMES;

const STORED_AS = "parley.theme";
const listeners = new Set<() => void>();

/** The theme that the viewer chose, and a function to choose another. Without a choice it is the system's. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  return [useSyncExternalStore(subscribe, chosenTheme), chooseTheme];
}

/** Applies the stored choice, before the first paint. */
export function applyTheme(): void {
  const theme = chosenTheme();
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function chooseTheme(theme: Theme): void {
  localStorage.setItem(STORED_AS, theme);
  applyTheme();
  for (const listener of listeners) listener();
}

function chosenTheme(): Theme {
  const stored = localStorage.getItem(STORED_AS);
  return stored === "light" || stored === "dark" ? stored : "system";
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
