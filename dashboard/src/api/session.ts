import { queryOptions } from "@tanstack/react-query";
import { api, ask } from "./client.ts";

/** Who is signed in. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => ask(api.GET("/v1/manage/me", { signal })),
  staleTime: 60_000,
});
