import { queryOptions } from "@tanstack/react-query";
import { read, type Schema } from "../../api/client.ts";
import type { Tone } from "../../ui/badge.tsx";

export type Call = Schema["Call"];
export type CallStatus = Call["status"];

export const CALLS = ["calls"] as const;
export const CALLS_SHOWN = 25;
const EVERY_MS = 3_000;

/** The parts of the page beside the calls, as its address names them. */
export const CALL_TABS = ["batches", "do-not-call"] as const;

/** The parts of the list, by the API's parameter `status`. */
export const CALL_VIEWS = [
  { value: "", label: "All" },
  { value: "RINGING,IN_PROGRESS", label: "Live" },
  { value: "QUEUED", label: "Queued" },
  { value: "ENDED", label: "Ended" },
] as const;

export interface CallFilters {
  status?: string;
  batch_id?: string;
  page?: number;
}

/** Calls that agents make, newest first, kept current. */
export function callsQuery(filters: CallFilters) {
  return queryOptions({
    queryKey: [...CALLS, filters],
    queryFn: ({ signal }) => read(signal, "/v1/public/calls", { query: { ...filters, page_size: CALLS_SHOWN } }),
    placeholderData: (before) => before,
    refetchInterval: EVERY_MS,
  });
}

export const CALL_STATUSES: Record<CallStatus, { label: string; tone: Tone }> = {
  QUEUED: { label: "Queued", tone: "neutral" },
  RINGING: { label: "Ringing", tone: "accent" },
  IN_PROGRESS: { label: "In progress", tone: "accent" },
  ENDED: { label: "Ended", tone: "neutral" },
};
