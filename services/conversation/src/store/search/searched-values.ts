import type { Sql } from "@parley/shared/db/database";

/** The values of a row of `conversations` that a search reads besides its messages: one row `value` each, possibly null. */
export function searchedValues(tx: Sql) {
  return tx`(
    select value from searched_values(metadata, variables, to_mobile_number, from_mobile_number) as value
    union all select unnest(array[room_url, room_name])
  )`;
}
