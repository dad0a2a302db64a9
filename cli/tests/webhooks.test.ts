import { afterAll, expect, test } from "bun:test";
import { DEFAULT_EVENTS } from "@parley/shared/portable/events";
import { eventually } from "@parley/testkit/eventually";
import { startStack } from "./stack.ts";

const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
const URL = "https://hooks.example.com/parley";

let status = 200;
const stack = await startStack();
const receiver = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("thanks", { status }) });
const { owner_id } = await json("owner", "create", "--name", "Acme", "--email", "ops@acme.example");
const owned = ["--owner", owner_id];
afterAll(async () => {
  await receiver.stop(true);
  await stack.stop();
});

/** The output of a command with --json, which must succeed. */
async function json(...args: string[]) {
  const { status: code, stdout, stderr } = await stack.parley([...args, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

function create(url: string, ...more: string[]) {
  return json("webhook", "create", "--name", "CRM", "--url", url, "--request-type", "POST", ...owned, ...more);
}

test("a destination can be created, listed, changed, given a new secret and deleted; secrets are shown only when created", async () => {
  const { secret, ...made } = await create(URL, "--disabled", "--retry-schedule", "extended");
  expect(secret).toMatch(/^whsec_/);
  expect(made).toEqual({
    destination_id: expect.stringMatching(/^whd_[0-9a-z]{26}$/),
    owner_id: owned[1],
    name: "CRM",
    url: URL,
    request_type: "POST",
    retry_schedule: "extended",
    events: [...DEFAULT_EVENTS],
    status: "disabled",
    old_secret_valid_until: null,
    created_at: TIME,
    updated_at: TIME,
  });
  const id = made.destination_id;
  expect((await json("webhook", "list", ...owned)).destinations).toEqual([made]);
  const changed = await json("webhook", "update", id, "--enable", "--request-type", "PUT", "--name", "ERP", ...owned);
  expect(changed).toEqual({ ...made, status: "enabled", request_type: "PUT", name: "ERP", updated_at: TIME });
  const standard = await json("webhook", "update", id, "--retry-schedule", "standard", ...owned);
  expect(standard).toEqual({ ...changed, retry_schedule: "standard", updated_at: TIME });
  const rotated = await json("webhook", "rotate", id, ...owned);
  expect(rotated).toEqual({ destination_id: id, secret: expect.any(String), old_secret_valid_until: TIME });
  expect(rotated.secret).not.toBe(secret);
  expect(await json("webhook", "update", id, "--disable", ...owned)).toMatchObject({ status: "disabled" });
  expect(await json("webhook", "delete", id, ...owned)).toEqual({ destination_id: id, deleted: true });
  expect((await stack.parley(["webhook", "list", ...owned])).stdout).toBe(`${owned[1]} has no destinations yet.\n`);
});

test("a test event shows the outcome of its attempt", async () => {
  const { destination_id } = await create(receiver.url.href);
  expect(await json("webhook", "test", destination_id, ...owned)).toMatchObject({
    destination_id,
    event: "conversation.completed",
    is_test: true,
    status: "delivered",
    attempts: [{ number: 1, http_status: 200, error: null, response_excerpt: "thanks" }],
  });
});

test("deliveries are listed and can be resent, one or all failed ones", async () => {
  const { destination_id } = await create(receiver.url.href);
  status = 500;
  const { delivery_id } = await json("webhook", "test", destination_id, ...owned);
  const list = (...more: string[]) => json("delivery", "list", "--destination", destination_id, ...owned, ...more);
  await eventually(async () => expect((await list("--status", "failed")).total).toBe(1));
  const all = await list("--page-size", "1");
  expect(all).toMatchObject({
    total: 1,
    page: 1,
    page_size: 1,
    total_pages: 1,
    deliveries: [{ delivery_id, status: "failed" }],
  });
  expect(all.deliveries[0].attempts).toHaveLength(4);
  expect((await stack.parley(["delivery", "list", ...owned])).stdout).toMatch(
    /^delivery_id .*\ndlv_\w+ .* failed +4 +500 [^\n]*\n(dlv_[^\n]*\n)*\npage 1 of 1, \d+ in all\n$/,
  );

  status = 200;
  const since = ["--since", "2020-01-01", "--destination", destination_id];
  expect(await json("delivery", "resend", ...since, ...owned)).toEqual({ resent: 1 });
  await eventually(async () => expect((await list("--status", "delivered")).total).toBe(1));
  expect(await json("delivery", "resend", delivery_id, ...owned)).toMatchObject({ delivery_id });
});

test("a service's refusal is one sentence that names the argument", async () => {
  const refused = async (...args: string[]) => (await stack.parley(args)).stderr;
  const request = ["webhook", "create", "--name", "CRM", "--request-type", "POST"];
  expect(await refused(...request, "--url", "http://example.com", ...owned)).toStartWith("--url cannot be used: ");
  expect(await refused(...request, "--url", URL, "--owner", "own_x")).toBe("Owner not found\n");
  expect(await refused("delivery", "resend", "dlv_x", ...owned)).toBe("Delivery not found\n");
  expect(await refused("delivery", "resend", ...owned)).toContain(
    "give a delivery, or a destination with --destination",
  );
  for (const [option, value, said] of [
    ["--page", "0", "--page must be at least 1"],
    ["--page", "-1", "--page must be at least 1"],
    ["--page-size", "0", "--page-size must be from 1 to 100"],
    ["--page-size", "-1", "--page-size must be from 1 to 100"],
    ["--page-size", "1000", "--page-size must be from 1 to 100"],
  ] as const) {
    expect(await refused("delivery", "list", option, value, ...owned)).toBe(`${said}\n`);
  }
  expect(await refused("delivery", "list", "--owner", "own_x")).toBe("Owner not found\n");
  expect(await refused("webhook", "list", "--owner", "own_x")).toBe("Owner not found\n");
  const { destination_id } = await create(URL, "--disabled");
  expect(await refused("webhook", "test", destination_id, ...owned)).toBe("Destination is disabled: enable it first\n");
  expect(await refused("delivery", "resend", "--destination", destination_id, ...owned)).toStartWith(
    "give a delivery, or a destination with --destination and --since\n",
  );
});
