import { queryOptions } from "@tanstack/react-query";
import { read, type Schema } from "../../api/client.ts";

export type Secret = Schema["Secret"];

export const SECRETS = ["secrets"] as const;

/** The values that tools and models send, without the values themselves, by name. */
export const secretsQuery = queryOptions({
  queryKey: SECRETS,
  queryFn: async ({ signal }) => (await read(signal, "/v1/manage/secrets")).secrets,
});
