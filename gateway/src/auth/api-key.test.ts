import { expect, test } from "bun:test";
import { SCOPES } from "@parley/shared/domain/api-names";
import { requireScope } from "./api-key.ts";

test("a key with `*` may do everything but override a test that has not passed, which it is given by name", () => {
  const refused = (scopes: string[]) =>
    SCOPES.filter((scope) => {
      try {
        requireScope(scopes, scope);
        return false;
      } catch {
        return true;
      }
    });
  expect(refused(["*"])).toEqual(["agents:override"]);
  expect(refused(["*", "agents:override"])).toEqual([]);
});
