import { afterAll, expect, test } from "bun:test";
import { startStack } from "./stack.ts";

const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);

const stack = await startStack({ needsConversations: true });
const made = await stack.parley(["owner", "create", "--name", "Acme", "--email", "acme@example.com", "--json"]);
const owner = JSON.parse(made.stdout).owner_id;
afterAll(() => stack.stop());

const alert = (...args: string[]) => stack.parley(["alert", ...args, "--owner", owner]);

async function json(...args: string[]) {
  const { status, stdout, stderr } = await alert(...args, "--json");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout);
}

test("an alert can be created, listed with its state, changed and deleted, beside those of a new owner", async () => {
  const rule = ["--metric", "cost", "--threshold", "12.5", "--minimum-count", "3", "--disabled"];
  const created = await json("create", "--name", "Expensive", ...rule);
  const fields = { name: "Expensive", metric: "cost", threshold: 12.5, window_minutes: 15, minimum_count: 3 };
  expect(created).toMatchObject({ ...fields, enabled: false, agent_id: null, is_open: false, created_at: TIME });
  const id = created.alert_id;
  const { stdout } = await alert("list");
  expect(stdout).toMatch(/^alert_id +name +state +metric .*\n/);
  expect(stdout.split("\n").filter((line) => / off /.test(line))).toHaveLength(6);
  expect((await alert("list", "--open")).stdout).toBe(`${owner} has no open alerts.\n`);
  const changed = await json("update", id, "--threshold", "20", "--window-minutes", "60", "--enable");
  expect(changed).toEqual({ ...created, threshold: 20, window_minutes: 60, enabled: true, updated_at: TIME });
  expect(await json("delete", id)).toEqual({ alert_id: id, deleted: true });
  expect((await json("list")).alerts).toHaveLength(5);
});

test("what is wrong with an alert is told by its option, and a mistyped owner is given none", async () => {
  const create = (...args: string[]) => alert("create", "--name", "X", "--metric", "failed_share", ...args);
  const cases: [string[], string][] = [
    [["--threshold", "1.5"], "--threshold must be at most 1: failed_share is a share"],
    [["--threshold", "much"], "It must be a number."],
    [["--threshold", "1", "--window-minutes", "0"], "--window-minutes must be from 1 to 1440"],
    [["--threshold", "1", "--minimum-count", "-1"], "--minimum-count must be from 0 to 1000000"],
    [["--threshold", "1", "--agent", "Ada"], "--agent must be the id of an agent"],
    [[], "--threshold"],
  ];
  for (const [args, said] of cases) expect((await create(...args)).stderr).toContain(said);
  expect((await alert("update", "alr_x")).stderr).toContain("give at least one option");
  expect((await alert("update", "alr_x", "--disable")).stderr).toBe("Alert not found\n");
  expect((await stack.parley(["alert", "list", "--owner", "own_x"])).stderr).toBe("Owner not found\n");
});
