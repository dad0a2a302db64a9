import type { Fragment, Sql } from "./database.ts";

type Values = readonly (string | number | null)[] | string;

/** Array parameters by the type of their elements. Takes values, or what `plainArray` makes of them. */
export type Arrays = Record<"text" | "uuid" | "integer" | "timestamptz", (values: Values) => Fragment>;

/**
 * Array parameters whose lengths the planner does not know, for statements that run often. It expects ten elements in an array of
 * unknown length, so a plan for any arrays seems to cost more than one for those at hand, which are usually shorter: given plain
 * parameters, Postgres plans the statement each time, which takes longer than running it.
 */
export function arraysOf(sql: Sql): Arrays {
  return {
    text: (values) => sql`(select ${values as string[]}::text[])::text[]`,
    uuid: (values) => sql`(select ${values as string[]}::uuid[])::uuid[]`,
    integer: (values) => sql`(select ${values as number[]}::integer[])::integer[]`,
    timestamptz: (values) => sql`(select ${values as string[]}::timestamptz[])::timestamptz[]`,
  };
}
