import { numberIn, pageIn, textIn } from "../../app/search-params.ts";

/** The filters of the list, named as the API's parameters and the page's address name them. */
export interface Filters {
  search?: string;
  agent_id?: string;
  /** Of that agent. */
  agent_version?: number;
  conversation_type?: string;
  conversation_status?: string;
  calling_type?: string;
  is_test_call?: boolean;
  /** YYYY-MM-DD in the viewer's zone, both inclusive. */
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
    ...(search.agent_id !== undefined && numberIn(search, "agent_version")),
    ...textIn(search, "conversation_type"),
    ...textIn(search, "conversation_status"),
    ...textIn(search, "calling_type"),
    ...(typeof search.is_test_call === "boolean" && { is_test_call: search.is_test_call }),
    ...dayIn(search, "from_date"),
    ...dayIn(search, "to_date"),
    ...pageIn(search),
  };
}

function dayIn<N extends string>(search: Record<string, unknown>, name: N): Partial<Record<N, string>> {
  return DAY.test(String(search[name])) ? textIn(search, name) : {};
}

/** The API's parameters for the filters: its days begin and end in UTC, so those of the viewer's zone are sent as moments. @param until leaves out what began later */
export function parametersOf(
  { from_date, to_date, ...filters }: Filters,
  until?: Date,
): Record<string, string | number | boolean> {
  const ends = to_date === undefined ? Number.POSITIVE_INFINITY : startOf(to_date, 1).getTime() - 1;
  const last = Math.min(ends, until?.getTime() ?? Number.POSITIVE_INFINITY);
  return {
    ...filters,
    ...(from_date && { from_date: startOf(from_date).toISOString() }),
    ...(last < Number.POSITIVE_INFINITY && { to_date: new Date(last).toISOString() }),
  };
}

/** The first moment of a day in the viewer's zone, or of one some days later. @param day YYYY-MM-DD */
function startOf(day: string, later = 0): Date {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + later);
}

/** A day in the viewer's zone as YYYY-MM-DD. */
export function dayOf(moment: Date): string {
  const [month, date] = [moment.getMonth() + 1, moment.getDate()].map((part) => String(part).padStart(2, "0"));
  return `${moment.getFullYear()}-${month}-${date}`;
}

/** Whether anything but the page is chosen. */
export function isFiltered({ page: _, ...filters }: Filters): boolean {
  return Object.keys(filters).length > 0;
}

/** The parts of a conversation's page beside the transcript, as its address names them. */
export const CONVERSATION_TABS = ["latency", "analysis", "deliveries", "json"] as const;
