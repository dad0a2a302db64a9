import { expect, test } from "bun:test";
import type { OwnerEvent } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { boundedAcceptance } from "./accept-bounds.ts";

const eventOf = (payload: string): OwnerEvent => {
  return { ownerId: "", eventId: "", event: "", conversationId: "", payload, traceparent: undefined };
};

test("requests are refused while too many bytes are being stored, and taken again once those are", async () => {
  const accept = boundedAcceptance(10);
  const stored = Promise.withResolvers<string>();
  const first = accept([eventOf("12345"), eventOf("ü")], () => stored.promise);
  expect(await accept([eventOf("123")], async () => "fits")).toBe("fits");
  const refused = await accept([eventOf("1234")], async () => "too many").catch((error) => error.kind);
  expect(refused).toBe("unavailable");
  stored.resolve("first");
  expect(await first).toBe("first");
  expect(await accept([eventOf("x".repeat(100))], async () => "alone")).toBe("alone");
});

test("what could not be stored no longer counts", async () => {
  const accept = boundedAcceptance(10);
  const fail = () => Promise.reject(new Error("away"));
  expect(await accept([eventOf("x".repeat(100))], fail).catch((error) => error.message)).toBe("away");
  expect(await accept([eventOf("x".repeat(100))], async () => "taken")).toBe("taken");
});
