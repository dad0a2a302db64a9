import { expect, test } from "bun:test";
import { ServiceError } from "../src/errors.ts";
import { pageOf } from "../src/page.ts";

test("a list request without a page gets the first", () => {
  expect(pageOf(undefined)).toEqual({ number: 1, size: 10 });
  expect(pageOf(undefined, 20)).toEqual({ number: 1, size: 20 });
});

test("a page number from 1 and a size from 1 to 100 are accepted as they are", () => {
  expect(pageOf({ number: 1, size: 1 })).toEqual({ number: 1, size: 1 });
  expect(pageOf({ number: 2_147_483_647, size: 100 })).toEqual({ number: 2_147_483_647, size: 100 });
});

test.each([
  [{ number: 0, size: 10 }, "page", "page must be at least 1"],
  [{ number: -1, size: 10 }, "page", "page must be at least 1"],
  [{ number: 1, size: 0 }, "page_size", "page_size must be from 1 to 100"],
  [{ number: 1, size: -1 }, "page_size", "page_size must be from 1 to 100"],
  [{ number: 1, size: 101 }, "page_size", "page_size must be from 1 to 100"],
])("the page %j is refused, naming the field", (page, path, message) => {
  const refused = () => pageOf(page);
  expect(refused).toThrow(ServiceError);
  expect(refused).toThrow(expect.objectContaining({ kind: "invalid", violations: [{ path, message }] }));
});
