import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { createClient } from "@parley/shared/rpc/client";
import type { Outcome } from "./run-here.ts";
import { MAIN, PARLEY, runCli, runShell, startStack, writeStackJson } from "./stack.ts";

const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);

const stack = await startStack();
afterAll(() => stack.stop());

/** The output of a command with --json, which must succeed. */
async function json(...args: string[]) {
  const { status, stdout, stderr } = await stack.parley([...args, "--json"]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout);
}

let emails = 0;
const newOwner = (...more: string[]) =>
  json("owner", "create", "--name", "Acme", "--email", `ops${emails++}@acme.example`, ...more);

describe("owner", () => {
  test("create --json prints the API's fields, with the free tier by default", async () => {
    expect(await json("owner", "create", "--name", "Acme", "--email", "acme@example.com")).toEqual({
      owner_id: expect.stringMatching(/^own_[0-9a-z]{26}$/),
      name: "Acme",
      email: "acme@example.com",
      tier: "free",
      rate_limit_per_minute: 100,
    });
    expect(await newOwner("--tier", "enterprise", "--rate-limit", "2500")).toMatchObject({
      tier: "enterprise",
      rate_limit_per_minute: 2500,
    });
  });

  test("an owner can be shown, changed, listed and deleted", async () => {
    const owner = await newOwner("--tier", "pro");
    const id = owner.owner_id;
    const shown = await json("owner", "show", id);
    expect(shown).toEqual({ ...owner, created_at: TIME, updated_at: TIME });

    const changed = await json("owner", "update", id, "--name", "Acme Europe", "--tier", "free");
    expect(changed).toEqual({
      ...shown,
      name: "Acme Europe",
      tier: "free",
      rate_limit_per_minute: 100,
      updated_at: TIME,
    });
    expect((await json("owner", "list")).owners[0]).toEqual(changed);

    expect(await json("owner", "delete", id)).toEqual({ owner_id: id, deleted: true });
    const { owners } = await json("owner", "list");
    expect(owners.map((each: { owner_id: string }) => each.owner_id)).not.toContain(id);
  });
});

describe("owner password", () => {
  const signIn = async (email: string, password: string) => {
    const account = createClient(AccountServiceService, { peer: "account", address: stack.address });
    const { owner } = await account.signIn({ email, password }).finally(() => account.close());
    return owner?.ownerId;
  };

  test("creates one and shows it once", async () => {
    const { owner_id, email } = await newOwner();
    const made = await json("owner", "password", "--owner", owner_id);
    expect(made).toEqual({ owner_id, email, password: expect.stringMatching(/^[\w-]{24}$/) });
    expect(await signIn(email, made.password)).toBe(owner_id);
    const { stdout } = await stack.parley(["owner", "password", "--owner", owner_id]);
    expect(stdout).toMatch(/^owner_id {2}own_\w{26}\nemail {5}\S+\npassword {2}[\w-]{24}\n\nKeep the password now/);
  });

  test("reads one from standard input, never from the arguments, which every process can see", async () => {
    const { owner_id, email } = await newOwner();
    const set = (password: string) =>
      stack.parley(["owner", "password", "--owner", owner_id, "--stdin", "--json"], undefined, password);
    expect(await set("one long pass phrase\n")).toEqual({
      status: 0,
      stdout: `${JSON.stringify({ owner_id, email }, null, 2)}\n`,
      stderr: "",
    });
    expect(await signIn(email, "one long pass phrase")).toBe(owner_id);
    const error = "The password must be 15 to 256 characters";
    expect(await set("short")).toEqual({ status: 1, stdout: "", stderr: `${JSON.stringify({ error })}\n` });
  });
});

describe("key", () => {
  test("create --json prints the key itself and the API's fields", async () => {
    const { owner_id } = await newOwner();
    expect(await json("key", "create", "--owner", owner_id)).toEqual({
      key_id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
      api_key: expect.stringMatching(/^vk_[0-9A-Za-z]{43}$/),
      owner_id,
      name: null,
      scopes: ["*"],
      status: "active",
      expires_at: null,
      created_at: TIME,
    });
    const limited = ["--name", "CI", "--scopes", "chat, agents:read", "--scopes", "calls"];
    expect(
      await json("key", "create", "--owner", owner_id, ...limited, "--expires-at", "2999-01-31T12:00:00+02:00"),
    ).toMatchObject({
      name: "CI",
      scopes: ["chat", "agents:read", "calls"],
      expires_at: "2999-01-31T10:00:00.000Z",
    });
    expect(await json("key", "create", "--owner", owner_id, "--expires-at", "2999-01-31")).toMatchObject({
      expires_at: "2999-01-31T00:00:00.000Z",
    });
  });

  test("a key can be listed, deactivated, activated and deleted, and is never shown again", async () => {
    const { owner_id } = await newOwner();
    const { api_key, ...made } = await json("key", "create", "--owner", owner_id, "--name", "CI");
    const key = { ...made, prefix: api_key.slice(0, 11) };
    expect(await json("key", "list", "--owner", owner_id)).toEqual({ keys: [{ ...key, last_used_at: null }] });
    const change = (verb: string) => json("key", verb, key.key_id, "--owner", owner_id);
    expect(await change("deactivate")).toEqual({ ...key, status: "inactive" });
    expect(await change("activate")).toEqual(key);
    expect(await change("delete")).toEqual({ key_id: key.key_id, deleted: true });
    expect(await json("key", "list", "--owner", owner_id)).toEqual({ keys: [] });
  });

  test("PARLEY_OWNER_ID stands in for --owner", async () => {
    const { owner_id } = await newOwner();
    const env = { PARLEY_HOME: stack.home, PARLEY_OWNER_ID: owner_id };
    const { stdout } = await stack.parley(["key", "create", "--json"], env);
    expect(JSON.parse(stdout)).toMatchObject({ owner_id });
  });
});

test("an owner's numbers can be added, listed and removed", async () => {
  const { owner_id } = await newOwner();
  const number = { mobile_number: "+14155550123", telephony_provider: "TWILIO", carrier_id: null };
  const owned = ["--owner", owner_id];
  expect(await json("number", "add", number.mobile_number, "--carrier", "twilio", ...owned)).toEqual(number);
  expect(await json("number", "list", ...owned)).toEqual({ mobile_numbers: [number] });
  expect(await json("number", "remove", number.mobile_number, ...owned)).toEqual({
    mobile_number: number.mobile_number,
    removed: true,
  });
  expect(await json("number", "list", ...owned)).toEqual({ mobile_numbers: [] });
});

test("an owner's carrier can be connected from standard input, and its numbers imported", async () => {
  const { owner_id } = await newOwner();
  const owned = ["--owner", owner_id];
  const trunk = JSON.stringify({ host: "trunk.example", username: "acme", password: "the trunk's password" });
  const connect = (text: string) => stack.parley(["carrier", "connect", "sip", ...owned, "--json"], undefined, text);
  const carrier = JSON.parse((await connect(trunk)).stdout);
  expect(carrier).toMatchObject({ provider: "SIP", host: "trunk.example", transport: "UDP", password: "********word" });
  const shown = {
    ...carrier,
    registration: expect.objectContaining({ state: "UNKNOWN", reason: expect.stringContaining("voice") }),
  };
  expect(await json("carrier", "show", carrier.carrier_id, ...owned)).toEqual(shown);
  expect(await json("carrier", "list", ...owned)).toEqual({ carriers: [shown] });
  expect(await json("carrier", "numbers", carrier.carrier_id, ...owned)).toEqual({ numbers: [] });
  const number = { mobile_number: "+14155550177", telephony_provider: "SIP", carrier_id: carrier.carrier_id };
  expect(await json("carrier", "import", carrier.carrier_id, number.mobile_number, ...owned)).toEqual(number);
  await json("number", "remove", number.mobile_number, ...owned);
  expect(await json("carrier", "disconnect", carrier.carrier_id, ...owned)).toEqual({
    carrier_id: carrier.carrier_id,
    disconnected: true,
  });
  expect((await connect("{ username: acme }")).stderr).toContain("standard input must be a JSON object");
  expect((await connect("{}")).stderr).toContain("host is required");
  const twilio = await stack.parley(["carrier", "connect", "twilio", ...owned], undefined, "{}");
  expect(twilio.stderr).toBe("account_sid is required\nauth_token is required\n");
});

test("the days that conversations are kept can be read and set", async () => {
  const { owner_id } = await newOwner();
  expect(await json("settings", "get", "--owner", owner_id)).toEqual({ retention_days: 90, timezone: null });
  const days = ["--retention-days", "30"];
  const set = await json("settings", "set", "--owner", owner_id, ...days);
  expect(set).toEqual({ retention_days: 30, timezone: null });
  const zoned = await json("settings", "set", "--owner", owner_id, "--timezone", "Europe/Berlin");
  expect(zoned).toEqual({ retention_days: 30, timezone: "Europe/Berlin" });
  expect(await json("settings", "get", "--owner", owner_id)).toEqual(zoned);
});

test("an owner's sessions are listed and ended", async () => {
  const { owner_id, email } = await newOwner();
  const password = "a pass phrase of the test";
  const accounts = createClient(AccountServiceService, { peer: "account", address: stack.address });
  try {
    await accounts.setPassword({ ownerId: owner_id, password });
    await accounts.signIn({ email, password, userAgent: "Firefox" });
  } finally {
    accounts.close();
  }
  const { sessions } = await json("session", "list", "--owner", owner_id);
  const session_id = expect.stringMatching(/^ses_\w{26}$/);
  expect(sessions).toEqual([
    { session_id, user_agent: "Firefox", created_at: TIME, last_used_at: TIME, expires_at: TIME },
  ]);
  const [{ session_id: id }] = sessions;
  expect(await json("session", "end", id, "--owner", owner_id)).toEqual({ session_id: id, ended: true });
  expect(await json("session", "list", "--owner", owner_id)).toEqual({ sessions: [] });
  expect((await stack.parley(["session", "end", id, "--owner", owner_id])).stderr).toBe("Session not found\n");
});

describe("without --json", () => {
  test("fields are aligned, and a note says that the key is shown only once", async () => {
    const { owner_id } = await newOwner();
    const { stdout } = await stack.parley(["key", "create", "--owner", owner_id, "--scopes", "chat,calls"]);
    expect(stdout).toMatch(/^key_id {6}key_\w{26}\napi_key {5}vk_\w{43}\nowner_id {4}own_\w{26}\nname {8}-\n/);
    expect(stdout).toContain("\nscopes      chat,calls\n");
    expect(stdout).toEndWith("\n\nKeep the api_key now: it is not shown again.\n");
  });

  test("a list is a table, or a sentence when it is empty", async () => {
    const { owner_id } = await newOwner();
    const list = async () => (await stack.parley(["number", "list", "--owner", owner_id])).stdout;
    expect(await list()).toBe(`${owner_id} has no numbers yet.\n`);
    await json("number", "add", "+442071838750", "--carrier", "plivo", "--owner", owner_id);
    expect(await list()).toBe("mobile_number  telephony_provider  carrier_id\n+442071838750  PLIVO               -\n");
  });
});

describe("what the service refuses", () => {
  const refused = (...args: string[]) => stack.parley(args);
  const said = (stderr: string): Outcome => ({ status: 1, stdout: "", stderr: `${stderr}\n` });

  test("is one sentence that names the argument, with status 1", async () => {
    const create = ["owner", "create", "--name", "Acme"];
    expect(await refused(...create, "--email", "x@y.example", "--tier", "enterprise")).toEqual(
      said("--rate-limit is required for the enterprise tier: a whole number from 1 to 1000000"),
    );
    expect(await refused(...create, "--email", "nobody")).toEqual(
      said("--email must be an email address, such as ann@example.com"),
    );
    const { email, owner_id } = await newOwner();
    expect(await refused(...create, "--email", email)).toEqual(said("email is already in use by another owner"));
    expect(await refused("key", "create", "--owner", owner_id, "--expires-at", "2001-01-01")).toEqual(
      said("--expires-at must be in the future"),
    );
    expect(await refused("number", "add", "0123", "--carrier", "twilio", "--owner", owner_id)).toEqual(
      said("<mobile_number> must be a phone number in E.164 form, such as +14155550123"),
    );
    expect(await refused("settings", "set", "--retention-days", "0", "--owner", owner_id)).toEqual(
      said("--retention-days must be from 1 to 3650"),
    );
    expect(await refused("key", "list", "--owner", "own_x")).toEqual(said("Owner not found"));
  });

  test("another owner's key is not found", async () => {
    const { owner_id } = await newOwner();
    const { key_id } = await json("key", "create", "--owner", owner_id);
    const { owner_id: other } = await newOwner();
    expect(await refused("key", "delete", key_id, "--owner", other)).toEqual(said("API key not found"));
  });

  test("is a JSON document with --json", async () => {
    expect(await refused("key", "list", "--owner", "own_x", "--json")).toEqual(said('{"error":"Owner not found"}'));
  });
});

describe("an invalid command line ends with status 2 and", () => {
  const KEY = ["key", "create", "--owner", "own_x"];
  test.each([
    [["owner", "create", "--name", "Acme"], "required option '--email <email>' not specified"],
    [["key", "list"], "required option '--owner <owner_id>' not specified"],
    [["key", "delete", "--owner", "own_x"], "missing required argument 'key_id'"],
    [["owner", "create", "--tier", "gold"], "Allowed choices are free, pro, enterprise."],
    [["owner", "create", "--rate-limit", "many"], "It must be a whole number."],
    [["owner", "create", "--rate-limit", "1.5"], "It must be a whole number."],
    [["owner", "create", "--rate-limit", "99999999999"], "It must be from -2147483647 to 2147483647."],
    [["delivery", "list", "--owner", "own_x", "--page", "-99999999999"], "It must be from -2147483647 to 2147483647."],
    [[...KEY, "--expires-at", "tomorrow"], "It must be a date or a time with its zone"],
    [[...KEY, "--expires-at", "2999-02-29"], "It must be a date or a time with its zone"],
    [[...KEY, "--expires-at", "2999-01-01T12:00:00"], "It must be a date or a time with its zone"],
    [[...KEY, "--scopes", ""], "It must be names separated by commas."],
    [["number", "add", "+14155550123", "--carrier", "acme"], "Allowed choices are TWILIO, PLIVO."],
    [["owner", "update", "own_x"], "give at least one of --name, --tier and --rate-limit"],
    [["webhook", "update", "whd_x", "--owner", "own_x"], "give at least one of --name, --url, "],
    [
      ["webhook", "update", "whd_x", "--event", "done", "--owner", "own_x"],
      "Allowed choices are conversation.completed, ",
    ],
    [["call", "agt_x", "--say", " "], "It must not be empty."],
    [["delivery", "resend", "dlv_x", "--since", "2030-01-01", "--owner", "own_x"], "give a delivery, or a destination"],
    [["owner", "lst"], "(Did you mean list?)"],
    [["key", "lst", "--json"], "Did you mean list?"],
  ])("%j says %s", async (args, message) => {
    const { status, stdout, stderr } = await stack.parley(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/See: bun run parley \w+/);
  });

  test.each([[[]], [["owner"]]])("%j shows the help", async (args) => {
    const { status, stderr } = await stack.parley(args);
    expect(status).toBe(2);
    expect(stderr).toStartWith("Usage: bun run parley ");
    expect(stderr).toContain("Examples:");
  });
});

test.each([
  [[]],
  [["owner"]],
  [["owner", "create"]],
  [["key"]],
  [["key", "create"]],
  [["carrier"]],
  [["number"]],
  [["settings"]],
  [["session"]],
  [["webhook"]],
  [["delivery"]],
])("%j --help shows examples", async (args) => {
  const { status, stdout } = await stack.parley([...args, "--help"]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/Examples:\n {2}\$ bun run parley \w/);
});

test("--version prints the version", async () => {
  expect(await stack.parley(["--version"])).toEqual({ status: 0, stdout: "parley 0.2.0\n", stderr: "" });
});

test("the help marks the options that a command requires", async () => {
  const { stdout } = await stack.parley(["owner", "create", "--help"]);
  expect(stdout).toMatch(/--name <name> +Required\. /);
  expect(stdout).toMatch(/--email <email> +Required\. /);
  expect(stdout).not.toMatch(/--(tier|rate-limit|json)[^\n]*Required/);
});

test("help and advice show the program name as it was called", async () => {
  const { stdout, stderr } = await runShell("parley owner foo; parley owner --help", {});
  const called = `bun ${relative(process.cwd(), MAIN)}`;
  expect(stderr).toEndWith(`See: ${called} owner --help\n`);
  expect(stdout).toStartWith(`Usage: ${called} owner `);
  expect(stdout).toContain(`$ ${called} owner list\n`);
});

describe("output", () => {
  const shell = (line: string) => runShell(line, { PARLEY_HOME: stack.home }, PARLEY);

  test("whose reader stops reading ends the command silently", async () => {
    for (const args of ["--help", "owner", "owner list", "owner list --json"]) {
      // The reader has exited before the command begins to write.
      const { stdout, stderr } = await shell(`{ parley ${args} 2>&1 1>&3 3>&-; } 3> >(exec true) | cat`);
      expect([args, stdout, stderr]).toEqual([args, expect.not.stringContaining("EPIPE"), ""]);
    }
  });

  test("that cannot be written is a failure", async () => {
    for (const args of ["--help", "--version", "owner list", "owner list --json"]) {
      const { status, stderr } = await shell(`parley ${args} > /dev/full`);
      expect([args, status, stderr]).toEqual([args, 1, expect.stringContaining("Could not write the output: ENOSPC")]);
    }
  });
});

describe("finding the stack", () => {
  const START = 'start the stack with "bun run start", or select another with PARLEY_HOME or PARLEY_ACCOUNT_ADDRESS.';
  let elsewhere: string;
  beforeAll(async () => {
    elsewhere = await mkdtemp(join(tmpdir(), "parley-cli-"));
  });
  afterAll(() => rm(elsewhere, { recursive: true }));
  const list = (env: Record<string, string>) => runCli(["owner", "list"], env, elsewhere);

  test("PARLEY_ACCOUNT_ADDRESS takes precedence over any stack.json", async () => {
    expect((await list({ PARLEY_ACCOUNT_ADDRESS: stack.address, PARLEY_HOME: "/nowhere" })).status).toBe(0);
  });

  test("without PARLEY_HOME it is .parley in the current folder", async () => {
    expect(await list({})).toEqual({
      status: 1,
      stdout: "",
      stderr: `No stack is running here (there is no ${join(elsewhere, ".parley/stack.json")}): ${START}\n`,
    });
    await writeStackJson(join(elsewhere, ".parley"), [{ name: "account", pid: 1, address: stack.address }]);
    expect((await list({})).status).toBe(0);
  });

  test("a stack.json without an account service says what to do", async () => {
    await writeStackJson(elsewhere, [{ name: "gateway", pid: 1, address: "127.0.0.1:8080" }]);
    expect((await list({ PARLEY_HOME: elsewhere })).stderr).toEndWith(
      `stack.json names no account service: ${START}\n`,
    );
    await Bun.write(join(elsewhere, "stack.json"), "{");
    expect((await list({ PARLEY_HOME: elsewhere })).stderr).toEndWith(
      `stack.json names no account service: ${START}\n`,
    );
  });

  test("an unreachable service is reported with its address", async () => {
    const { stderr } = await list({ PARLEY_ACCOUNT_ADDRESS: "127.0.0.1:1" });
    expect(stderr).toBe(
      "The account service is unreachable. Try again. The request went to 127.0.0.1:1 (PARLEY_ACCOUNT_ADDRESS).\n",
    );
  });

  test("a stack that no longer runs says what to do", async () => {
    await writeStackJson(elsewhere, [{ name: "account", pid: 1, address: "127.0.0.1:1" }]);
    expect(await list({ PARLEY_HOME: elsewhere })).toEqual({
      status: 1,
      stdout: "",
      stderr:
        'The account service is unreachable. Try again. If the stack is not running, start it with "bun run start".\n',
    });
  });
});
