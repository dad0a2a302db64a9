import { queryOptions } from "@tanstack/react-query";
import { read, type Schema } from "../../api/client.ts";
import { AGENTS, readAgents } from "../agents/agents.ts";

export type Carrier = Schema["ShownCarrier"];
export type OwnNumber = Schema["NumberList"]["mobile_numbers"][number];

export const CARRIERS = ["carriers"] as const;
export const NUMBERS = ["numbers"] as const;

/** How soon the page shows that a trunk answers something else. */
const REGISTRATIONS_EVERY_MS = 10_000;

/** All connected carriers, oldest first, and where SIP trunks send their calls. */
export const carriersQuery = queryOptions({
  queryKey: CARRIERS,
  queryFn: ({ signal }) => read(signal, "/v1/manage/carriers", { query: { include: "registration" } }),
  refetchInterval: ({ state }) =>
    state.data?.carriers.some(({ registration }) => registration) ? REGISTRATIONS_EVERY_MS : false,
});

/** All phone numbers, oldest first. */
export const numbersQuery = queryOptions({
  queryKey: NUMBERS,
  queryFn: async ({ signal }) =>
    (await read(signal, "/v1/manage/mobile-numbers", { query: { include: "proof" } })).mobile_numbers,
});

/** The newest thousand agents, which a number may be given to. */
export const assignableAgentsQuery = queryOptions({
  queryKey: [...AGENTS, "assignable"],
  queryFn: async ({ signal }) => (await readAgents(signal)).items,
});
