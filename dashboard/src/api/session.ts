import { queryOptions } from "@tanstack/react-query";
import { api } from "./client.ts";

/** Who is signed in. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => api.GET("/v1/manage/me", { signal }),
  staleTime: 60_000,
  // Another tab may have signed out, or in as somebody else.
  refetchOnWindowFocus: "always",
});
