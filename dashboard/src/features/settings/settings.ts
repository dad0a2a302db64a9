export const SETTINGS = ["settings"] as const;
export const SESSIONS = ["sessions"] as const;
