export const THEMES = { system: "System", light: "Light", dark: "Dark" } as const;
export type Theme = keyof typeof THEMES;

const STORED_AS = "parley.theme";

/** The theme that the viewer chose; without a choice it is the system's. */
export function storedTheme(): Theme {
  const stored = localStorage.getItem(STORED_AS);
  return stored === "light" || stored === "dark" ? stored : "system";
}

export function storeTheme(theme: Theme): void {
  localStorage.setItem(STORED_AS, theme);
}

/** Applies the stored choice to the page. */
export function applyTheme(): void {
  const theme = storedTheme();
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
