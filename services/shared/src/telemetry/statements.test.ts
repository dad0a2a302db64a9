import { expect, test } from "bun:test";
import { summaryOf } from "./statements.ts";

const of = (template: TemplateStringsArray, ..._values: unknown[]) => summaryOf(template);

test("a statement is named for its verb and its table, whatever it looks up on the way", () => {
  expect(of`select ${1} from agents where id = ${2}`).toBe("select agents");
  expect(of`select a from unnest(${[]}) as asked (id) left join agents using (id)`).toBe("select agents");
  expect(of`with wanted as (select 1) select b from wanted join prompt_versions v on true`).toBe(
    "select prompt_versions",
  );
  expect(of`with taken as (update conversations set a = 1 returning b) insert into messages select b from taken`).toBe(
    "insert messages",
  );
  expect(
    of`with taken as (update conversations set a = 1 returning b), stored as (
      insert into messages select b from taken on conflict (b) do update set c = 1
    ) select b, (select c from others for update skip locked) from taken`,
  ).toBe("insert messages");
  expect(of`with due as materialized (select 1 from jobs for update skip locked) update jobs set a = 1 from due`).toBe(
    "update jobs",
  );
  expect(of`DELETE FROM only jobs where (a, b) in (select a, b from others)`).toBe("delete jobs");
  expect(of`select pg_advisory_lock(${1})`).toBe("select");
  expect(of`listen ${1}`).toBe("listen");
});
