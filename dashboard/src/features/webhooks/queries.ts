import type { EventName } from "@parley/shared/portable/events";
import { queryOptions } from "@tanstack/react-query";
import { read, type Schema } from "../../api/client.ts";
import type { Tone } from "../../ui/badge.tsx";

export type Destination = Schema["Destination"];
export type Delivery = Schema["Delivery"];
export type SentDelivery = Schema["SentDelivery"];
export type DeliveryStatus = Delivery["status"];

export const DESTINATIONS = ["destinations"] as const;
export const DELIVERIES = ["deliveries"] as const;

/** All destinations, oldest first. */
export const destinationsQuery = queryOptions({
  queryKey: DESTINATIONS,
  queryFn: async ({ signal }) => (await read(signal, "/v1/manage/destinations")).destinations,
});

export interface DeliveryFilter {
  destination_id?: string;
  conversation_id?: string;
  status?: DeliveryStatus;
  event?: EventName;
  page?: number;
}

const FAILURES_READ = 100;

/** The newest failed deliveries: when each destination failed last, and whether these are all, so that none means none. */
export const failuresQuery = queryOptions({
  queryKey: [...DELIVERIES, "failures"],
  queryFn: async ({ signal }) => {
    const query = { status: "failed" as const, page_size: FAILURES_READ };
    const { deliveries, total } = await read(signal, "/v1/manage/deliveries", { query });
    // Oldest first, so that the newest remains.
    const last = deliveries.toReversed().map(({ destination_id, created_at }) => [destination_id, created_at] as const);
    return { lastByDestination: new Map(last), isWhole: total <= deliveries.length };
  },
  refetchInterval: 30_000,
});

export const DELIVERIES_SHOWN = 20;
const PENDING_EVERY_MS = 1_000;
const EVERY_MS = 5_000;

/** A page of deliveries, newest first, followed closely while one is in progress. */
export function deliveriesQuery(filter: DeliveryFilter) {
  return queryOptions({
    queryKey: [...DELIVERIES, filter],
    queryFn: ({ signal }) =>
      read(signal, "/v1/manage/deliveries", { query: { ...filter, page_size: DELIVERIES_SHOWN } }),
    placeholderData: (before) => before,
    refetchInterval: ({ state }) =>
      state.data?.deliveries.some(({ status }) => status === "pending") ? PENDING_EVERY_MS : EVERY_MS,
  });
}

/** A delivery with its payload and what each attempt sent, read again after each attempt. */
export function sentDeliveryQuery({ delivery_id, attempts }: Delivery) {
  return queryOptions({
    queryKey: [...DELIVERIES, "sent", delivery_id, attempts.at(-1)?.number ?? 0],
    queryFn: ({ signal }) => read(signal, "/v1/manage/deliveries/{delivery_id}", { path: { delivery_id } }),
    placeholderData: (before) => before,
  });
}

export const DELIVERY_STATUSES: Record<DeliveryStatus, { label: string; tone: Tone }> = {
  pending: { label: "Pending", tone: "accent" },
  delivered: { label: "Delivered", tone: "success" },
  failed: { label: "Failed", tone: "danger" },
  cancelled: { label: "Cancelled", tone: "neutral" },
};
