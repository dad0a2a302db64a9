import { queryOptions } from "@tanstack/react-query";
import { read } from "../../api/client.ts";

export const SETTINGS = ["settings"] as const;
export const SESSIONS = ["sessions"] as const;

/** How long conversations are kept, and the limits of the owner's tier. */
export const settingsQuery = queryOptions({
  queryKey: SETTINGS,
  queryFn: ({ signal }) => read(signal, "/v1/manage/settings"),
});

/** Where the owner is signed in. */
export const sessionsQuery = queryOptions({
  queryKey: SESSIONS,
  queryFn: async ({ signal }) => (await read(signal, "/v1/manage/sessions")).sessions,
});
