import { afterAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { type Answer, type Api, createManageApi } from "../kit/api.ts";
import { startSecondGateway } from "../kit/stack/second-gateway.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createMember, PASSWORD } from "../kit/test-owner.ts";

const stack = await sharedStack();
afterAll(() => stack.stop());

const problem = ({ status, body }: Answer) => ({ status, ...body });
const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
const NOT_SIGNED_IN = { status: 401, detail: "Not signed in" };
const ENDED = { status: 401, detail: "The session has ended. Sign in again." };
const WRONG = { status: 401, detail: "Invalid email or password" };

/** The stack trusts the address that a request names, so that each test has its own. */
let addresses = 0;
const anAddress = () => `198.51.100.${++addresses}`;
const signIn = (body: object, headers: Record<string, string> = {}) =>
  stack.manage("").post("/sign-in", body, { "x-forwarded-for": anAddress(), ...headers });

/** Sends the head of a request whose body never arrives. @returns the head of the answer */
async function announceSignIn(from: string, bytes: number): Promise<{ head: string; close(): void }> {
  const { hostname, port, host } = new URL(stack.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /v1/manage/sign-in HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n` +
      `X-Forwarded-For: ${from}\r\nContent-Length: ${bytes}\r\n\r\n{`,
  );
  const [data] = await once(socket, "data");
  return { head: String(data), close: () => socket.destroy() };
}

const cookieOf = ({ headers }: Answer) => headers.getSetCookie()[0] ?? "";
const deviceOf = ({ headers }: Answer) => (headers.getSetCookie()[1] ?? "").split(";")[0] ?? "";
const tokenOf = (answer: Answer) => /^(?:__Host-)?parley_session=([^;]*)/.exec(cookieOf(answer))?.[1] ?? "";

describe("signing in", () => {
  test("returns the owner and sets a cookie that the management API accepts", async () => {
    const { ownerId, email } = await createMember(stack);
    const answer = await signIn({ email, password: PASSWORD });
    const owner = {
      owner_id: ownerId,
      name: "Test",
      email,
      tier: "enterprise",
      rate_limit_per_minute: 1_000_000,
      created_at: TIME,
    };
    expect(problem(answer)).toEqual({ status: 200, ...owner });
    expect(cookieOf(answer)).toMatch(/^parley_session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const me = await stack.manage(tokenOf(answer)).get("/me");
    expect(problem(me)).toEqual({ status: 200, ...owner });
    expect(me.headers.get("cache-control")).toBe("no-store");
    expect(me.headers.get("x-ratelimit-limit")).toBe("300");
  });

  test("with the login in dev.env works in a new stack", async () => {
    const env = readFileSync(stack.home.file("dev.env"), "utf8");
    const value = (name: string) => new RegExp(`^${name}=(.+)$`, "m").exec(env)?.[1];
    const answer = await signIn({ email: value("PARLEY_OWNER_EMAIL"), password: value("PARLEY_OWNER_PASSWORD") });
    expect(problem(answer)).toMatchObject({ status: 200, owner_id: value("PARLEY_OWNER_ID") });
  });

  test("is limited per account, known or not, from wherever the attempts come", async () => {
    const { email, manage } = await createMember(stack);
    for (const account of [email, "unknown@example.com"]) {
      for (let guesses = 0; guesses < 5; guesses++) {
        expect(problem(await signIn({ email: account, password: "a guess" }))).toEqual(WRONG);
      }
      const refused = await signIn({ email: account.toUpperCase(), password: PASSWORD });
      expect(problem(refused)).toEqual({ status: 429, detail: "Too many password attempts. Wait a minute." });
      expect(refused.headers.get("retry-after")).toMatch(/^([1-9]|[1-5]\d|60)$/);
    }
    expect((await manage.get("/me")).status).toBe(200);
  });

  test("goes on in a browser that signed in before, and only there, while others use up the account's attempts", async () => {
    const { email } = await createMember(stack);
    const body = { email, password: PASSWORD };
    const first = await signIn(body);
    const device = deviceOf(first);
    expect(device).toMatch(/^parley_device=[\w-]{22}\.[\w-]{43}$/);
    expect(first.headers.getSetCookie()[1]).toEndWith("; Path=/; Max-Age=15552000; HttpOnly; SameSite=Strict");
    const stranger = await createMember(stack);
    const strangers = deviceOf(await signIn({ email: stranger.email, password: PASSWORD }));
    for (let guesses = 0; guesses < 4; guesses++) await signIn({ email, password: "a guess" });
    for (const cookie of ["", strangers, `${device}x`, "parley_device=."])
      expect((await signIn(body, { cookie })).status).toBe(429);
    expect((await signIn(body, { cookie: device })).status).toBe(200);

    // It has attempts of its own, and no more than an account has; and a new password makes a new device of it.
    for (let guesses = 0; guesses < 3; guesses++)
      expect(problem(await signIn({ email, password: "a guess" }, { cookie: device }))).toEqual(WRONG);
    const signedIn = await signIn(body, { cookie: device });
    expect(signedIn.status).toBe(200);
    expect((await signIn(body, { cookie: device })).status).toBe(429);
    const password = { current_password: PASSWORD, new_password: `${PASSWORD} anew` };
    const from = { "x-forwarded-for": anAddress() };
    const changed = await stack.manage(tokenOf(signedIn)).post("/password", password, from);
    const anew = { email, password: password.new_password };
    expect((await signIn(anew, { cookie: deviceOf(signedIn) })).status).toBe(429);
    expect((await signIn(anew, { cookie: deviceOf(changed) })).status).toBe(200);
  });

  test("is limited per address, whichever accounts are tried", async () => {
    const from = { "x-forwarded-for": "203.0.113.5" };
    for (let guesses = 0; guesses < 10; guesses++) {
      expect(problem(await signIn({ email: `guess${guesses}@example.com`, password: "a" }, from))).toEqual(WRONG);
    }
    expect((await signIn({ email: "guess10@example.com", password: "a" }, from)).status).toBe(429);
    expect((await signIn({ email: "guess10@example.com", password: "a" })).status).toBe(401);
  });

  test("refuses an address over its limit before reading the body", async () => {
    const from = "203.0.113.6";
    for (let guesses = 0; guesses < 10; guesses++)
      await signIn({ email: `other${guesses}@example.com`, password: "a" }, { "x-forwarded-for": from });
    const { head, close } = await announceSignIn(from, 4_000);
    expect(head).toStartWith("HTTP/1.1 429 ");
    close();
  });

  test("accepts a body of at most 4 KiB, with or without a declared length", async () => {
    const body = JSON.stringify({ email: "long@example.com", password: "x".repeat(5 * 1024) });
    const detail = "The request body must be at most 4 KiB";
    for (const sent of [body, new Blob([body]).stream()]) {
      const headers = { "content-type": "application/json", "x-forwarded-for": anAddress() };
      const answer = await stack.manage("").send("POST", "/sign-in", { body: sent, headers });
      expect(problem(answer)).toEqual({ status: 413, detail });
    }
    const { head, close } = await announceSignIn(anAddress(), 1024 * 1024);
    expect(head).toStartWith("HTTP/1.1 413 ");
    close();
  });

  test("over TLS sets a host-only cookie, and one planted by a sibling domain is not accepted", async () => {
    const { email } = await createMember(stack);
    const tls = { "x-forwarded-proto": "https" };
    const answer = await signIn({ email, password: PASSWORD }, tls);
    expect(cookieOf(answer)).toMatch(/^__Host-parley_session=[\w-]{43}; Path=\/; Max-Age=2592000; Secure; HttpOnly;/);
    const token = tokenOf(answer);
    const me = (cookie: string) => stack.manage("").get("/me", { ...tls, cookie });
    expect((await me(`__Host-parley_session=${token}`)).status).toBe(200);
    expect(problem(await me(`parley_session=${token}`))).toEqual(NOT_SIGNED_IN);
  });
});

describe("a session", () => {
  test("ends on every gateway at sign-out", async () => {
    const { token, manage } = await createMember(stack);
    const second = await startSecondGateway(stack);
    const elsewhere = createManageApi(second.url, token);
    expect((await elsewhere.get("/me")).status).toBe(200);
    const answer = await manage.send("POST", "/sign-out");
    expect(problem(answer)).toEqual({ status: 200, message: "Signed out" });
    expect(cookieOf(answer)).toBe("parley_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
    for (const api of [manage, elsewhere]) expect(problem(await api.get("/me"))).toEqual(ENDED);
    await second.stop();
  });

  test("opens the public API with every scope, counted with its other requests", async () => {
    const { manage } = await createMember(stack);
    const made = await manage.post("//v1/public/prompts", { prompt_name: "greeting", prompt_content: "Hello" });
    expect(made.status).toBe(200);
    const read = await manage.get("//v1/public/prompts/greeting");
    expect(problem(read)).toMatchObject({ status: 200, prompt_name: "greeting" });
    expect(read.headers.get("x-ratelimit-limit")).toBe("300");
    expect((await manage.get("/me")).headers.get("x-ratelimit-remaining")).toBe("297");
  });

  test("does not let another site's page write through the public API", async () => {
    const { manage } = await createMember(stack);
    const theirs = { prompt_name: "theirs", prompt_content: "Hello" };
    const refused = await manage.post("//v1/public/prompts", theirs, { "sec-fetch-site": "cross-site" });
    expect(problem(refused)).toEqual({ status: 403, detail: "The request comes from another site's page" });
    expect((await manage.get("//v1/public/prompts/theirs")).status).toBe(404);
  });

  test("that has ended opens nothing, and a key beside a session is judged alone", async () => {
    const { token, apiKey, manage } = await createMember(stack);
    const cookie = { cookie: `parley_session=${token}` };
    const wrong = await stack.api("vk_wrong").get("/agents", cookie);
    expect(problem(wrong)).toEqual({ status: 401, detail: "Invalid API key" });
    const { headers } = await stack.api(apiKey).get("/agents", cookie);
    expect(headers.get("x-ratelimit-limit")).toBe("1000000");
    await manage.send("POST", "/sign-out");
    expect(problem(await manage.get("//v1/public/agents"))).toEqual(ENDED);
  });

  test("is not a key, and a key is not a session", async () => {
    const { apiKey } = await createMember(stack);
    expect(problem(await stack.api("").get("/agents"))).toEqual({ status: 401, detail: "API key is missing" });
    expect(problem(await stack.manage("").get("/me", { "x-api-key": apiKey }))).toEqual(NOT_SIGNED_IN);
    expect(problem(await stack.manage(apiKey).get("/me"))).toEqual(ENDED);
  });

  test("is listed, and ended by another one of its owner's alone", async () => {
    const { manage, email, ownerId } = await createMember(stack);
    const { token } = await stack.accounts.signIn({ email, password: PASSWORD, userAgent: "Firefox" });
    const { body } = await manage.get("/sessions");
    expect(body.sessions).toMatchObject([
      { is_current: false, user_agent: "Firefox", created_at: TIME, last_used_at: TIME, expires_at: TIME },
      { is_current: true, user_agent: null },
    ]);
    const path = `/sessions/${body.sessions[0].session_id}`;
    const { manage: stranger } = await createMember(stack);
    expect(problem(await stranger.send("DELETE", path))).toEqual({ status: 404, detail: "Session not found" });
    expect(problem(await manage.send("DELETE", path))).toEqual({ status: 200, message: "Session ended" });
    expect(problem(await stack.manage(token).get("/me"))).toEqual(ENDED);
    expect((await stack.accounts.listSessions({ ownerId })).sessions).toHaveLength(1);
  });

  test("that is guessed is limited like a wrong key", async () => {
    const from = { "x-forwarded-for": anAddress() };
    const guess = () => stack.manage("guess").get("/me", from);
    for (let guesses = 0; guesses < 60; guesses++) expect((await guess()).status).toBe(401);
    expect((await guess()).status).toBe(429);
    const { manage } = await createMember(stack);
    expect((await manage.get("/me", from)).status).toBe(200);
  });

  test("may send 300 requests a minute, counted apart from other sessions and keys", async () => {
    const { manage, apiKey, email } = await createMember(stack);
    const left = async (answer: Promise<Answer>) => (await answer).headers.get("x-ratelimit-remaining");
    expect([await left(manage.get("/me")), await left(manage.get("/keys"))]).toEqual(["299", "298"]);
    expect(await left(manage.post("/keys", { name: "" }))).toBe("297");
    const { token } = await stack.accounts.signIn({ email, password: PASSWORD });
    expect(await left(stack.manage(token).get("/me"))).toBe("299");
    expect(await left(stack.api(apiKey).get("/agents"))).toBe("999999");
  });

  test.each([
    ["another site's page", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    ["a neighbouring host's page", { "sec-fetch-site": "same-site" }],
    ["another origin in an old browser", { origin: "https://evil.example" }],
  ])("does not let %s write", async (_, headers: Record<string, string>) => {
    const { manage, email } = await createMember(stack);
    const refusal = { status: 403, detail: "The request comes from another site's page" };
    expect(problem(await manage.post("/keys", { name: "theirs" }, headers))).toEqual(refusal);
    expect(problem(await manage.send("POST", "/sign-out", { headers }))).toEqual(refusal);
    expect(problem(await signIn({ email, password: PASSWORD }, headers))).toEqual(refusal);
    expect((await manage.get("/keys")).body.keys).toHaveLength(1);
  });

  test("lets a page of its own origin write", async () => {
    const { manage } = await createMember(stack);
    const origin = { origin: stack.url };
    expect((await manage.post("/keys", {}, origin)).status).toBe(200);
    expect((await manage.post("/keys", {}, { ...origin, "sec-fetch-site": "same-origin" })).status).toBe(200);
  });
});

describe("a password", () => {
  const change = (manage: Api, current_password: string, new_password = "another four words here") =>
    manage.post("/password", { current_password, new_password }, { "x-forwarded-for": anAddress() });

  test("changed by its owner ends every session and starts a new one", async () => {
    const { manage, token, email, ownerId } = await createMember(stack);
    const { token: other } = await stack.accounts.signIn({ email, password: PASSWORD });
    const answer = await change(manage, PASSWORD);
    expect(problem(answer)).toEqual({ status: 200, message: "Password changed" });
    expect(problem(await stack.manage(tokenOf(answer)).get("/me"))).toMatchObject({ status: 200, owner_id: ownerId });
    for (const ended of [token, other]) expect(problem(await stack.manage(ended).get("/me"))).toEqual(ENDED);
    expect(problem(await signIn({ email, password: PASSWORD }))).toEqual(WRONG);
    expect((await signIn({ email, password: "another four words here" })).status).toBe(200);
  });

  test("stays when the current one is wrong or the new one too short, and guesses are limited", async () => {
    const { manage } = await createMember(stack);
    const wrong = "current_password is wrong";
    expect(problem(await change(manage, "not mine"))).toMatchObject({
      status: 422,
      errors: [{ path: "current_password", message: wrong }],
    });
    expect(problem(await change(manage, PASSWORD, "short"))).toMatchObject({
      status: 422,
      detail: "new_password must be 15 to 256 characters",
    });
    for (let guesses = 2; guesses < 5; guesses++) expect((await change(manage, "not mine")).status).toBe(422);
    expect((await change(manage, "not mine")).status).toBe(429);
    expect((await manage.get("/me")).status).toBe(200);
  });
});

test("sign-ins with an owner's ID for an email take no attempts from its change of password", async () => {
  const { manage, ownerId } = await createMember(stack);
  for (let guesses = 0; guesses < 6; guesses++) await signIn({ email: ownerId, password: "a guess" });
  const body = { current_password: PASSWORD, new_password: "another four words here" };
  const changed = await manage.post("/password", body, { "x-forwarded-for": anAddress() });
  expect(problem(changed)).toEqual({ status: 200, message: "Password changed" });
});

test("no log contains a password, a session or a key", async () => {
  const { email } = await createMember(stack);
  const answer = await signIn({ email, password: PASSWORD });
  const made = await stack.manage(tokenOf(answer)).post("/keys", {});
  expect(made.status).toBe(200);
  const logs = stack.home.file("logs");
  const logged = readdirSync(logs)
    .map((name) => readFileSync(`${logs}/${name}`, "utf8"))
    .join("");
  expect(logged).toContain("/v1/manage/sign-in");
  for (const secret of [PASSWORD, tokenOf(answer), made.body.api_key]) expect(logged).not.toContain(secret);
});
