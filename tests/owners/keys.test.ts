import { afterAll, expect, test } from "bun:test";
import { Tier } from "@parley/proto/parley/account/v1/account.ts";
import { connectPostgres } from "@parley/shared/db/connect";
import { eventually } from "@parley/testkit/eventually";
import { type Answer, type Api, createApi } from "../kit/api.ts";
import { startSecondGateway } from "../kit/stack/second-gateway.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createKey, createMember, createOwner } from "../kit/test-owner.ts";

/** A change of a key takes effect everywhere within a second; without it, a cached key is looked up again after half a minute. */
const REVOKED_WITHIN_MS = 10_000;
const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
const UNKNOWN = `vk_${"a".repeat(43)}`;

const stack = await sharedStack();
afterAll(() => stack.stop());

const problem = ({ status, body }: Answer) => ({ status, ...body });
/** The stack trusts the address that a request names, so that each test has its own. */
const from = (address: string) => ({ "x-forwarded-for": address });

test("a key that is missing, wrong, inactive, deleted or expired is 401 with the specific reason", async () => {
  const { accounts, owners } = stack;
  const { ownerId } = owners[0];
  const inactive = await createKey(accounts, ownerId);
  await accounts.deactivateKey({ ownerId, keyId: inactive.keyId });
  const deleted = await createKey(accounts, ownerId);
  await accounts.deleteKey({ ownerId, keyId: deleted.keyId });
  const orphan = await createOwner(accounts);
  await accounts.deleteOwner({ ownerId: orphan.ownerId });
  const expired = await createKey(accounts, ownerId);
  const sql = connectPostgres(stack.databaseUrls.account, { max: 1 });
  await sql`update api_keys set expires_at = now() - interval '1 day' where key_id = ${expired.keyId}`;
  await sql.end();

  const detailOf = async (headers: Record<string, string>) => {
    const sent: Record<string, string> = { ...from("192.0.2.1"), ...headers };
    const response = await fetch(`${stack.url}/v1/public/agents`, { headers: sent });
    expect(response.status).toBe(401);
    const body = (await response.json()) as { detail: string };
    expect(Object.keys(body)).toEqual(["detail"]);
    return body.detail;
  };
  expect(await detailOf({})).toBe("API key is missing");
  expect(await detailOf({ "x-api-key": "" })).toBe("API key is missing");
  expect(await detailOf({ authorization: `Bearer ${owners[0].apiKey}` })).toBe("API key is missing");
  expect(await detailOf({ "x-api-key": UNKNOWN })).toBe("Invalid API key");
  for (const malformed of ["vk_", "x", `${UNKNOWN}a`, `sk_${"a".repeat(43)}`, `${owners[0].apiKey} x`]) {
    expect(await detailOf({ "x-api-key": malformed })).toBe("Invalid API key");
  }
  expect(await detailOf({ "x-api-key": deleted.apiKey })).toBe("Invalid API key");
  expect(await detailOf({ "x-api-key": orphan.apiKey })).toBe("Invalid API key");
  expect(await detailOf({ "x-api-key": inactive.apiKey })).toBe("API key is inactive");
  expect(await detailOf({ "x-api-key": expired.apiKey })).toBe("API key has expired");
});

test("a key is checked before anything else in the request", async () => {
  const answer = await stack.api("").send("POST", "/chat", { body: "not json", headers: from("192.0.2.2") });
  expect(problem(answer)).toEqual({ status: 401, detail: "API key is missing" });
});

test("a key works until the millisecond of its expiry and not after", async () => {
  // Late enough that a busy machine has made the key and a request with it by then.
  const expiresAt = new Date(Date.now() + 5_000);
  const { apiKey } = await createKey(stack.accounts, stack.owners[0].ownerId, { expiresAt });
  const api = stack.api(apiKey);
  expect((await api.get("/agents")).status).toBe(200);
  await Bun.sleep(expiresAt.getTime() - Date.now() - 100);
  for (let refused = 0; refused < 3; ) {
    const sentAt = Date.now();
    const answer = await api.get("/agents");
    const answeredAt = Date.now();
    if (answeredAt < expiresAt.getTime()) expect(answer.status).toBe(200);
    if (sentAt >= expiresAt.getTime()) expect(problem(answer)).toEqual({ status: 401, detail: "API key has expired" });
    if (answer.status !== 200) refused++;
  }
});

test("a change of a key or its account takes effect on every gateway soon: deactivated, activated, deleted", async () => {
  const { accounts, owners } = stack;
  const { ownerId } = owners[0];
  const second = await startSecondGateway(stack);
  const { keyId, apiKey } = await createKey(accounts, ownerId);
  const apis = [stack.api(apiKey), createApi(second.url, apiKey)];
  const bothAnswer = (status: number, detail?: string) =>
    Promise.all(
      apis.map((api) =>
        eventually(async () => {
          const answer = await api.get("/agents");
          expect(answer.status).toBe(status);
          if (detail) expect(answer.body.detail).toBe(detail);
        }, REVOKED_WITHIN_MS),
      ),
    );
  await bothAnswer(200);
  for (let round = 0; round < 3; round++) {
    await accounts.deactivateKey({ ownerId, keyId });
    await bothAnswer(401, "API key is inactive");
    for (const api of apis) expect((await api.get("/agents")).status).toBe(401);
    await accounts.activateKey({ ownerId, keyId });
    await bothAnswer(200);
  }
  await accounts.deleteKey({ ownerId, keyId });
  await bothAnswer(401, "Invalid API key");
  await second.stop();
});

test("a change of an account's tier changes the limit soon", async () => {
  const { accounts } = stack;
  const owner = await createOwner(accounts, 7);
  const api = stack.api(owner.apiKey);
  const limit = async () => (await api.get("/agents")).headers.get("x-ratelimit-limit");
  expect(await limit()).toBe("7");
  const becomes = (text: string) => eventually(async () => expect(await limit()).toBe(text), REVOKED_WITHIN_MS);
  await accounts.updateOwner({
    ownerId: owner.ownerId,
    name: undefined,
    tier: Tier.TIER_PRO,
    rateLimitPerMinute: undefined,
  });
  await becomes("500");
  await accounts.updateOwner({
    ownerId: owner.ownerId,
    name: undefined,
    tier: Tier.TIER_FREE,
    rateLimitPerMinute: undefined,
  });
  await becomes("100");
});

test("the rate limit counts down in the headers, then refuses with 429 and says when to retry", async () => {
  const owner = await createOwner(stack.accounts, 3);
  const api = stack.api(owner.apiKey);
  // A client's mistake counts like any other request.
  const answers = [await api.get("/agents"), await api.get("/agents/none"), await api.post("/agents", {})];
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 422]);
  expect(answers.map(remaining)).toEqual(["2", "1", "0"]);
  for (let again = 0; again < 2; again++) {
    const refused = await api.get("/agents");
    expect(problem(refused)).toEqual({ status: 429, detail: "Rate limit of 3 requests per minute exceeded" });
    expect(remaining(refused)).toBe("0");
    expect(refused.headers.get("x-ratelimit-limit")).toBe("3");
    expect(refused.headers.get("retry-after")).toMatch(/^([1-9]|[1-5]\d|60)$/);
    const secondsLeft = Number(refused.headers.get("x-ratelimit-reset")) - Date.now() / 1000;
    expect(secondsLeft).toBeWithin(0, 61);
  }
});

test("the rate limit is per key, and shared by all gateways", async () => {
  const owner = await createOwner(stack.accounts, 2);
  const other = await createKey(stack.accounts, owner.ownerId);
  const second = await startSecondGateway(stack);
  expect((await stack.api(owner.apiKey).get("/agents")).status).toBe(200);
  expect((await createApi(second.url, owner.apiKey).get("/agents")).status).toBe(200);
  expect((await stack.api(owner.apiKey).get("/agents")).status).toBe(429);
  expect((await createApi(second.url, owner.apiKey).get("/agents")).status).toBe(429);
  expect((await stack.api(other.apiKey).get("/agents")).status).toBe(200);
  await second.stop();
});

function remaining({ headers }: Answer): string | null {
  return headers.get("x-ratelimit-remaining");
}

test("wrong keys are limited to 60 a minute per address, while a valid key from there is served", async () => {
  const guess = (api: Api, address: string) => api.get("/agents", from(address));
  const wrong = stack.api(UNKNOWN);
  for (let guesses = 0; guesses < 60; guesses++) expect((await guess(wrong, "198.51.100.7")).status).toBe(401);
  const refused = await guess(wrong, "198.51.100.7");
  const detail = "Too many invalid API keys or expired sessions from this address. Wait a minute.";
  expect(problem(refused)).toEqual({ status: 429, detail });
  expect(refused.headers.get("retry-after")).toMatch(/^([1-9]|[1-5]\d|60)$/);
  expect((await guess(stack.api("malformed"), "198.51.100.7")).status).toBe(429);

  expect((await guess(stack.api(stack.owners[0].apiKey), "198.51.100.7")).status).toBe(200);
  expect(problem(await guess(stack.api(""), "198.51.100.7"))).toEqual({ status: 401, detail: "API key is missing" });
  expect((await guess(wrong, "198.51.100.8")).status).toBe(401);
  // The proxy adds the right-most address; the client may have written the others.
  expect((await guess(wrong, "198.51.100.9, 198.51.100.7")).status).toBe(429);
});

test("wrong keys are not counted when they are missing", async () => {
  const anonymous = stack.api("");
  for (let requests = 0; requests < 61; requests++) await anonymous.get("/agents", from("198.51.100.20"));
  expect((await stack.api(UNKNOWN).get("/agents", from("198.51.100.20"))).status).toBe(401);
});

test("a session's keys are created, shown once, deactivated, activated and deleted", async () => {
  const { manage } = await createMember(stack);
  const made = await manage.post("/keys", { name: "CI", scopes: ["agents:read"], expires_at: "2999-01-31" });
  const { api_key, ...key } = made.body;
  expect(made.body).toEqual({
    key_id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
    api_key: expect.stringMatching(/^vk_[0-9A-Za-z]{43}$/),
    name: "CI",
    prefix: api_key.slice(0, 11),
    scopes: ["agents:read"],
    status: "active",
    expires_at: "2999-01-31T00:00:00.000Z",
    created_at: TIME,
  });
  expect((await manage.get("/keys")).body.keys).toEqual([key, expect.objectContaining({ name: "Test" })]);
  expect((await stack.api(api_key).get("/agents")).status).toBe(200);
  const act = async (verb: string) => (await manage.send("POST", `/keys/${key.key_id}/${verb}`)).body;
  expect(await act("deactivate")).toEqual({ ...key, status: "inactive" });
  expect(await act("activate")).toEqual(key);
  expect((await manage.send("DELETE", `/keys/${key.key_id}`)).body).toEqual({ message: "API key deleted" });
  const gone = { status: 404, detail: "API key not found" };
  for (const id of [key.key_id, "none", "%00", "%zz"]) {
    expect(problem(await manage.send("POST", `/keys/${id}/activate`))).toEqual(gone);
    expect(problem(await manage.send("DELETE", `/keys/${id}`))).toEqual(gone);
  }
});

test("settings show the tier and change how long conversations are kept", async () => {
  const { manage } = await createMember(stack);
  const settings = {
    retention_days: 90,
    tier: "enterprise",
    rate_limit_per_minute: 1_000_000,
    session_rate_limit_per_minute: 300,
    timezone: null,
  };
  expect((await manage.get("/settings")).body).toEqual(settings);
  const patch = (body: object) =>
    manage.send("PATCH", "/settings", {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });
  expect((await patch({ retention_days: 30, tier: "free" })).body).toEqual({ ...settings, retention_days: 30 });
  expect((await patch({})).body).toEqual({ ...settings, retention_days: 30 });
  expect(problem(await patch({ retention_days: 0 }))).toMatchObject({
    status: 422,
    detail: "retention_days must be between 1 and 3650",
  });
});
