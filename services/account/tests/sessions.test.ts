import { afterAll, describe, expect, test } from "bun:test";
import type { Session } from "@parley/proto/parley/account/v1/account.ts";
import { isId } from "@parley/shared/ids";
import { failureOf } from "@parley/testkit/failures";
import postgres from "postgres";
import { digestOf, NO_OWNER, newOwner, startTestAccount } from "./kit.ts";

const PASSWORD = "four words and a comma";
const HOUR_MS = 60 * 60 * 1000;
const WRONG = { kind: "unauthenticated", detail: "Invalid email or password" };

const account = await startTestAccount();
const admin = postgres(account.database.urls.account, { max: 1 });
afterAll(async () => {
  await admin.end();
  await account.stop();
});

/** An owner with a password, whose hash costs little to verify: one as the service makes them takes 30 ms of CPU at each sign-in. */
const member = async () => {
  const { ownerId, email } = await newOwner(account.client);
  const hash = await Bun.password.hash(PASSWORD, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
  await admin`insert into passwords (owner_id, password_hash, updated_at) values (${ownerId}, ${hash}, now())`;
  return { ownerId, email };
};
const signIn = (email: string, password = PASSWORD) => account.client.signIn({ email, password });
const sessionOf = async (token: string): Promise<Session | undefined> =>
  (await account.client.authenticateSession({ digest: digestOf(token) })).session;

describe("signing in", () => {
  test("with email and password begins a session and returns its token", async () => {
    const { ownerId, email } = await newOwner(account.client);
    await account.client.setPassword({ ownerId, password: PASSWORD });
    const { owner, session, token } = await signIn(email);
    expect(owner).toMatchObject({ ownerId, email });
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(isId("ses", session?.sessionId ?? "")).toBe(true);
    expect(await sessionOf(token)).toEqual(session);
    expect(session).toMatchObject({ ownerId, createdAt: account.clock.now() });
  });

  test("takes the email in any case and the password in any Unicode form", async () => {
    const { ownerId, email } = await newOwner(account.client);
    await account.client.setPassword({ ownerId, password: "grüße aus münchen" });
    const { owner } = await signIn(email.toUpperCase(), "grüße aus münchen".normalize("NFD"));
    expect(owner).toMatchObject({ ownerId });
  });

  test("is refused alike for a wrong password, an unknown email, an owner without a password and a deleted one", async () => {
    const { email } = await member();
    expect(await failureOf(signIn(email, `${PASSWORD}!`))).toMatchObject(WRONG);
    expect(await failureOf(signIn(email, ""))).toMatchObject(WRONG);
    expect(await failureOf(signIn("nobody@example.com"))).toMatchObject(WRONG);
    expect(await failureOf(signIn((await newOwner(account.client)).email))).toMatchObject(WRONG);
    const gone = await member();
    await account.client.deleteOwner({ ownerId: gone.ownerId });
    expect(await failureOf(signIn(gone.email))).toMatchObject(WRONG);
  });

  test("stores neither the password nor the token", async () => {
    const { ownerId, email } = await newOwner(account.client);
    await account.client.setPassword({ ownerId, password: PASSWORD });
    const { token } = await signIn(email);
    const kept = JSON.stringify([
      await admin`select * from passwords where owner_id = ${ownerId}`,
      await admin`select *, encode(digest, 'escape') as text from sessions where owner_id = ${ownerId}`,
    ]);
    expect(kept).toContain("$argon2id$v=19$m=19456,t=2,p=1$");
    for (const secret of [PASSWORD, token]) expect(kept).not.toContain(secret);
  });

  test("answers everyone when many try at once", async () => {
    const { email } = await member();
    const attempts = Array.from({ length: 12 }, (_, at) =>
      at % 2 ? signIn(email) : failureOf(signIn(email, "wrong")),
    );
    const answers = await Promise.all(attempts);
    expect(answers.filter((answer) => typeof answer === "object" && answer && "token" in answer)).toHaveLength(6);
  });
});

describe("a session", () => {
  test("that was never started does not exist", async () => {
    expect(await sessionOf("nothing")).toBeUndefined();
    expect(await failureOf(account.client.authenticateSession({ digest: Buffer.alloc(5) }))).toMatchObject({
      kind: "invalid",
    });
  });

  test("ends a day after its last use", async () => {
    const { token } = await signIn((await member()).email);
    for (let uses = 0; uses < 3; uses++) {
      account.clock.advance(23 * HOUR_MS);
      expect(await sessionOf(token)).toBeDefined();
    }
    account.clock.advance(24 * HOUR_MS);
    expect(await sessionOf(token)).toBeUndefined();
  });

  test("ends after thirty days however much it is used", async () => {
    const { token, session } = await signIn((await member()).email);
    for (let hours = 0; hours < 30 * 24; hours += 20) {
      expect(await sessionOf(token)).toBeDefined();
      account.clock.advance(20 * HOUR_MS);
    }
    expect(session?.expiresAt).toEqual(account.clock.now());
    expect(await sessionOf(token)).toBeUndefined();
  });

  test("ends when its owner signs out of it, and no other does", async () => {
    const { ownerId, email } = await member();
    const [one, other] = [await signIn(email), await signIn(email)];
    await account.client.signOut({ ownerId, sessionId: one.session?.sessionId ?? "" });
    expect(await sessionOf(one.token)).toBeUndefined();
    expect(await sessionOf(other.token)).toBeDefined();
    const stranger = await member();
    await account.client.signOut({ ownerId: stranger.ownerId, sessionId: other.session?.sessionId ?? "" });
    await account.client.signOut({ ownerId: "\0", sessionId: "\0" });
    expect(await sessionOf(other.token)).toBeDefined();
  });

  test("is listed with its browser until it ends, and for its owner only", async () => {
    const { ownerId, email } = await member();
    const userAgent = `Firefox\0${"x".repeat(400)}`;
    await account.client.signIn({ email, password: PASSWORD, userAgent });
    account.clock.advance(20 * HOUR_MS);
    const { session } = await signIn(email);
    const list = async (of: string) => (await account.client.listSessions({ ownerId: of })).sessions;
    expect(await list(ownerId)).toMatchObject([
      { sessionId: session?.sessionId, userAgent: "" },
      { userAgent: `Firefox${"x".repeat(293)}` },
    ]);
    expect(await list((await member()).ownerId)).toEqual([]);
    account.clock.advance(4 * HOUR_MS);
    expect(await list(ownerId)).toHaveLength(1);
  });

  test("ends with its owner", async () => {
    const { ownerId, email } = await member();
    const { token } = await signIn(email);
    await account.client.deleteOwner({ ownerId });
    expect(await sessionOf(token)).toBeUndefined();
    expect(await admin`select 1 from passwords where owner_id = ${ownerId}`).toBeEmpty();
  });

  test("left unused is removed in time", async () => {
    const { ownerId, email } = await member();
    await signIn(email);
    account.clock.advance(24 * HOUR_MS);
    await signIn(email);
    expect(await admin`select 1 from sessions where owner_id = ${ownerId}`).toHaveLength(1);
  });
});

describe("a password", () => {
  test("that an operator sets replaces the previous one and ends every session", async () => {
    const { ownerId, email } = await member();
    const { token } = await signIn(email);
    await account.client.setPassword({ ownerId, password: "another four words here" });
    expect(await sessionOf(token)).toBeUndefined();
    expect(await failureOf(signIn(email))).toMatchObject(WRONG);
    await signIn(email, "another four words here");
  });

  test("can be changed by someone who knows it; every session ends and a new one begins", async () => {
    const { ownerId, email } = await member();
    const { token } = await signIn(email);
    const newPassword = "another four words here";
    const change = (currentPassword: string) =>
      account.client.changePassword({ ownerId, currentPassword, newPassword });
    expect(await failureOf(change("a guess of many letters"))).toMatchObject({
      kind: "invalid",
      detail: "current_password is wrong",
    });
    expect(await sessionOf(token)).toBeDefined();
    const changed = await change(PASSWORD);
    expect(await sessionOf(token)).toBeUndefined();
    expect(await sessionOf(changed.token)).toEqual(changed.session);
    expect(await failureOf(signIn(email))).toMatchObject(WRONG);
    await signIn(email, newPassword);
  });

  test("set during a sign-in with the previous one leaves no session of that sign-in", async () => {
    const { ownerId, email } = await member();
    for (let rounds = 0; rounds < 3; rounds++) {
      const [before, after] = [`the words of round ${rounds}`, `the words of round ${rounds + 1}`];
      await account.client.setPassword({ ownerId, password: before });
      const attempts = Array.from({ length: 4 }, () => signIn(email, before).catch(() => null));
      await account.client.setPassword({ ownerId, password: after });
      for (const attempt of await Promise.all(attempts)) {
        if (attempt) expect(await sessionOf(attempt.token)).toBeUndefined();
      }
    }
  });

  test("changed by two requests at once is one of theirs, and only that request's session lives", async () => {
    const { ownerId, email } = await member();
    const words = ["the words of the first", "the words of the second"];
    const outcomes = await Promise.all(
      words.map((newPassword) =>
        account.client.changePassword({ ownerId, currentPassword: PASSWORD, newPassword }).catch(() => null),
      ),
    );
    expect(outcomes.filter((outcome) => outcome !== null)).toHaveLength(1);
    const winner = outcomes.findIndex((outcome) => outcome !== null);
    await signIn(email, words[winner]);
    expect(await failureOf(signIn(email, words[1 - winner]))).toMatchObject(WRONG);
  });

  test.each([
    ["too short", "fourteen chars", "password must be 15 to 256 characters"],
    ["too long", "x1".repeat(129), "password must be 15 to 256 characters"],
    ["of few letters", "abababababababab", "password must be harder to guess: several words, for example"],
  ])("that is %s is refused", async (_, password, detail) => {
    const { ownerId } = await newOwner(account.client);
    expect(await failureOf(account.client.setPassword({ ownerId, password }))).toMatchObject({
      kind: "invalid",
      detail,
    });
  });

  test("of 256 characters counts as a whole, whatever its characters", async () => {
    const { ownerId, email } = await newOwner(account.client);
    const password = ` 🗝 ${"long ".repeat(50)}äö`.padEnd(256, "x").slice(0, 256);
    await account.client.setPassword({ ownerId, password });
    await signIn(email, password);
    expect(await failureOf(signIn(email, password.slice(0, -1)))).toMatchObject(WRONG);
  });

  test("must not be the owner's email or name", async () => {
    const request = { name: "Ann of Green Gables", email: "ann.of.green.gables@example.com" };
    const { owner } = await account.client.createOwner({ ...request, tier: 0 });
    const ownerId = owner?.ownerId ?? "";
    for (const password of [request.email.toUpperCase(), request.name]) {
      expect(await failureOf(account.client.setPassword({ ownerId, password }))).toMatchObject({ kind: "invalid" });
    }
  });

  test("needs an owner", async () => {
    expect(await failureOf(account.client.setPassword({ ownerId: NO_OWNER, password: PASSWORD }))).toMatchObject({
      kind: "not_found",
      detail: "Owner not found",
    });
  });
});
