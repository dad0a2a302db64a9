import { pageIn, textIn } from "../../app/search-params.ts";

/** The filters of the list, named as the API's parameters and the page's address name them. */
export interface Filters {
  search?: string;
  agent_id?: string;
  conversation_type?: string;
  conversation_status?: string;
  calling_type?: string;
  /** YYYY-MM-DD, UTC, both inclusive. */
  from_date?: string;
  to_date?: string;
  page?: number;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Reads the filters of a page's address. Anything else is left out. */
export function filtersIn(search: Record<string, unknown>): Filters {
  return {
    ...textIn(search, "search"),
    ...textIn(search, "agent_id"),
    ...textIn(search, "conversation_type"),
    ...textIn(search, "conversation_status"),
    ...textIn(search, "calling_type"),
    ...dayIn(search, "from_date"),
    ...dayIn(search, "to_date"),
    ...pageIn(search),
  };
}

function dayIn<N extends string>(search: Record<string, unknown>, name: N): Partial<Record<N, string>> {
  return DAY.test(String(search[name])) ? textIn(search, name) : {};
}

/** Whether anything but the page is chosen. */
export function isFiltered({ page: _, ...filters }: Filters): boolean {
  return Object.keys(filters).length > 0;
}

/** The parts of a conversation's page beside the transcript, as its address names them. */
export const CONVERSATION_TABS = ["latency", "analysis", "deliveries", "json"] as const;
