import { expect, test } from "bun:test";
import { importersOf } from "../affected.ts";
import { findTestFiles } from "../test-files.ts";

test("a test is affected by what it imports through its own and other packages, and by nothing else", async () => {
  const files = await findTestFiles(["byte-shares", "numbers.test", "number-set"]);
  const affected = await importersOf(["services/shared/src/shares/byte-shares.ts"], files);
  expect(affected).toContain("services/shared/tests/byte-shares.test.ts");
  expect(affected).not.toContain("services/conversation/src/store/search/number-set.test.ts");
  const own = await importersOf(["services/conversation/src/store/search/number-set.ts"], files);
  expect(own).toContain("services/conversation/src/store/search/number-set.test.ts");
});
