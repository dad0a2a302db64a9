import { expect, test } from "bun:test";
import { isOutOfTime, isUnreachableDatabase } from "./unreachable.ts";

const failed = (code: string, fields: object = {}) => Object.assign(new Error("failed"), { code, ...fields });

test.each([
  ["08006", "a connection that failed"],
  ["57P01", "a shutdown"],
  ["57P02", "a crash"],
  ["57P03", "a start"],
  ["57P05", "an idle session that was ended"],
  ["25006", "a server that takes no writes, such as the former primary after a failover"],
  ["53100", "a full disk"],
  ["53200", "no memory"],
  ["53300", "too many connections"],
  ["CONNECTION_CLOSED", "a connection that ended in the middle"],
  ["CONNECT_TIMEOUT", "no answer"],
])("the error %s, %s, means an unreachable database", (code) => {
  expect(isUnreachableDatabase(failed(code))).toBeTrue();
});

test("a system error means an unreachable database only if a query failed with it", () => {
  for (const code of ["ECONNREFUSED", "ENOENT", "ENOTFOUND"]) {
    expect(isUnreachableDatabase(failed(code, { query: "select 1" }))).toBeTrue();
    expect(isUnreachableDatabase(failed(code))).toBeFalse();
  }
});

test("a wrong statement, or one that ran out of time, has reached its database", () => {
  for (const code of ["23505", "42601", "57014", ""]) expect(isUnreachableDatabase(failed(code))).toBeFalse();
  expect(isUnreachableDatabase("08006")).toBeFalse();
  expect([failed("57014"), failed("57P01"), new Error("57014")].map(isOutOfTime)).toEqual([true, false, false]);
});
