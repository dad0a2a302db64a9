import { describe, expect, test } from "bun:test";
import { createPasswords } from "./password.ts";

describe("passwords", () => {
  test("match their own hash in any Unicode form, and no password matches a missing hash", async () => {
    const passwords = createPasswords();
    const hash = await passwords.hash("grüße aus münchen");
    expect(await passwords.verify("grüße aus münchen".normalize("NFD"), hash)).toBe(true);
    expect(await passwords.verify("gruesse aus muenchen", hash)).toBe(false);
    expect(await passwords.verify("grüße aus münchen", null)).toBe(false);
  });

  test("beyond the queue's limit are refused at once, and the others are answered", async () => {
    const passwords = createPasswords();
    const outcomes = await Promise.all(
      Array.from({ length: 26 }, () => passwords.verify("x", null).catch((error: unknown) => error)),
    );
    const refused = outcomes.filter((outcome) => outcome !== false);
    expect(refused.length).toBeWithin(1, 5);
    for (const error of refused) expect(error).toMatchObject({ kind: "unavailable", retryAfterMs: 1000 });
  });
});
