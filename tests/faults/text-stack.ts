import { afterAll } from "bun:test";
import { startTestStack } from "../kit/stack/test-stack.ts";

export const stack = await startTestStack({
  env: { PARLEY_TURN_LEASE_MS: "1500" },
  without: ["model", "carrier", "daily", "webhook-dispatcher", "knowledge"],
});
afterAll(() => stack.stop(), 120_000);
