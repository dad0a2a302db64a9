import { expect, test } from "bun:test";
import { ServiceError, withMetadata } from "../src/errors.ts";

test("an error keeps everything else when metadata is added", () => {
  const cause = new Error("beneath");
  const violations = [{ path: "metadata", message: "metadata is too large" }];
  const given = { violations, retryAfterMs: 250, cause };
  const error = new ServiceError("invalid", "Too large", { ...given, metadata: { session_id: "old", kept: "yes" } });
  const extended = withMetadata(error, { session_id: "new" });
  expect(extended).toBeInstanceOf(ServiceError);
  const { kind, detail } = extended;
  expect({ kind, detail }).toEqual({ kind: "invalid", detail: "Too large" });
  expect(extended).toMatchObject({ ...given, metadata: { session_id: "new", kept: "yes" } });
  expect(extended.cause).toBe(cause);
});
