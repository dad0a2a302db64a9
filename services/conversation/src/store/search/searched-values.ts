import type { Sql } from "@parley/shared/db/database";

/** What a search looks at of a row of `conversations` beside its messages, each value as a row `value`, maybe null. */
export function searchedValues(tx: Sql) {
  return tx`(
    select value from searched_values(metadata, variables, to_mobile_number, from_mobile_number) as value
    union all select unnest(array[room_url, room_name])
  )`;
}
