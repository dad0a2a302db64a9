import { queryOptions } from "@tanstack/react-query";
import { api, ask, type Schema } from "../../api/client.ts";
import type { Tone } from "../../ui/badge.tsx";

export type Destination = Schema["Destination"];
export type Delivery = Schema["Delivery"];
export type DeliveryStatus = Delivery["status"];

export const DESTINATIONS = ["destinations"] as const;
export const DELIVERIES = ["deliveries"] as const;

/** All destinations, oldest first. */
export const destinationsQuery = queryOptions({
  queryKey: DESTINATIONS,
  queryFn: async ({ signal }) => (await ask(api.GET("/v1/manage/destinations", { signal }))).destinations,
});

export interface DeliveryFilter {
  destination_id?: string;
  conversation_id?: string;
  status?: DeliveryStatus;
  page?: number;
}

export const DELIVERIES_SHOWN = 20;
const PENDING_EVERY_MS = 1_000;
const EVERY_MS = 5_000;

/** A page of deliveries, newest first, followed closely while one is under way. */
export function deliveriesQuery(filter: DeliveryFilter) {
  return queryOptions({
    queryKey: [...DELIVERIES, filter],
    queryFn: ({ signal }) =>
      ask(api.GET("/v1/manage/deliveries", { params: { query: { ...filter, page_size: DELIVERIES_SHOWN } }, signal })),
    placeholderData: (before) => before,
    refetchInterval: ({ state }) =>
      state.data?.deliveries.some(({ status }) => status === "pending") ? PENDING_EVERY_MS : EVERY_MS,
  });
}

export const DELIVERY_STATUSES: Record<DeliveryStatus, { label: string; tone: Tone }> = {
  pending: { label: "Pending", tone: "accent" },
  delivered: { label: "Delivered", tone: "success" },
  failed: { label: "Failed", tone: "danger" },
  cancelled: { label: "Cancelled", tone: "neutral" },
};
