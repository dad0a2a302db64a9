import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PARLEY, runShell } from "./stack.ts";

const CALL = { call_id: "call_1", status: "ENDED", outcome: "SUCCESS", to_mobile_number: "+14155550188", notes: null };
const COUNTS = { pending: 2, calling: 0 };
const BATCH = { batch_id: "bat_1", status: "RUNNING", agent_id: "agt_1", total: 2, counts: COUNTS };
const SENT = { message_id: "msg_1", conversation_id: "cnv_1", status: "QUEUED" };

let asked: { line: string; key: string | null; body: unknown }[] = [];
const folder = await mkdtemp(join(tmpdir(), "parley-cli-calls-"));
/** Answers like the API, and keeps the requests. */
const api = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const { pathname, search } = new URL(request.url);
    const text = await request.text();
    const line = `${request.method} ${pathname}${search}`;
    asked.push({ line, key: request.headers.get("x-api-key"), body: text === "" ? null : JSON.parse(text) });
    if (pathname.endsWith("/unknown")) return Response.json({ detail: "Call not found" }, { status: 404 });
    if (pathname === "/v1/public/whatsapp/messages") return Response.json(SENT);
    if (pathname === "/v1/public/mobile-numbers") return Response.json({ purchased_mobile_numbers: [] });
    if (pathname.startsWith("/v1/public/call-batches")) return Response.json({ ...BATCH, batches: [BATCH] });
    return Response.json({ ...CALL, calls: [CALL] });
  },
});
afterAll(async () => {
  await api.stop(true);
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  asked = [];
});

async function parley(...args: string[]) {
  const env = { ...process.env, PARLEY_URL: api.url.origin, PARLEY_API_KEY: "vk_1", PARLEY_HOME: folder };
  const child = Bun.spawn([...PARLEY, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { stdout, stderr, status: await child.exited };
}

test("an agent calls a number, and the call is followed to its end", async () => {
  const { stdout, status } = await parley("call", "+14155550188", "--agent", "agt_1");
  expect(status).toBe(0);
  expect(stdout).toStartWith("ENDED\n");
  expect(stdout).toContain("SUCCESS");
  expect(asked.map(({ line }) => line)).toEqual(["POST /v1/public/calls", "GET /v1/public/calls/call_1"]);
  expect(asked[0]).toMatchObject({ key: "vk_1", body: { agent_id: "agt_1", to_mobile_number: "+14155550188" } });
});

test("a call whose reader has closed the pipe is followed no further, and one that cannot be printed is a failure", async () => {
  const env = { PARLEY_URL: api.url.origin, PARLEY_API_KEY: "vk_1", PARLEY_HOME: folder };
  const call = "parley call +14155550188 --agent agt_1";
  // The reader has exited before the command begins to write.
  const closed = await runShell(`{ ${call} 2>&1 1>&3 3>&-; } 3> >(exec true) | cat`, env, PARLEY);
  expect(closed).toEqual({ status: 0, stdout: "", stderr: "" });
  const full = await runShell(`${call} > /dev/full`, env, PARLEY);
  expect(full).toEqual({
    status: 1,
    stdout: "",
    stderr: expect.stringMatching(/^Could not write the output: ENOSPC.*\n$/),
  });
});

test("a number that is not the owner's is refused without an agent that calls it", async () => {
  const { stderr, status } = await parley("call", "+14155550188");
  const words = "+14155550188 is not one of your numbers. Name the agent that calls the number: --agent agt_…\n";
  expect({ stderr, status }).toEqual({ stderr: words, status: 1 });
  expect(asked.map(({ line }) => line)).toEqual(["GET /v1/public/mobile-numbers?include=sip"]);
});

test("calls are listed and hung up, and the API's words are shown when it refuses", async () => {
  const list = await parley("calls", "list", "--status", "RINGING", "--json");
  expect(JSON.parse(list.stdout).calls).toEqual([CALL]);
  expect(await parley("calls", "hang-up", "call_1")).toMatchObject({ status: 0 });
  expect(asked.map(({ line }) => line)).toEqual([
    "GET /v1/public/calls?page_size=100&status=RINGING",
    "POST /v1/public/calls/call_1/hangup",
  ]);
  const refused = await parley("calls", "get", "unknown");
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining("Call not found") });
});

test("a batch is created from a CSV file and changed", async () => {
  const csv = join(folder, "customers.csv");
  await Bun.write(csv, "to_mobile_number\n+14155550188\n");
  const options = ["--agent", "agt_1", "--csv", csv, "--window", "09:00-17:00", "--retries", "2"];
  const created = await parley("batch", "create", ...options);
  expect(created.stdout).toContain("pending");
  expect(asked[0]).toMatchObject({
    line: "POST /v1/public/call-batches",
    body: {
      agent_id: "agt_1",
      csv: "to_mobile_number\n+14155550188\n",
      window: { from_time: "09:00", to_time: "17:00", timezone: "UTC" },
      retries: { max: 2, after_minutes: 60, on: ["busy", "no_answer"] },
    },
  });
  // As Excel writes it in much of Europe.
  await Bun.write(csv, Buffer.from("to_mobile_number;name\r\n+14155550188;Jürgen Groß\r\n", "latin1"));
  await parley("batch", "create", "--agent", "agt_1", "--csv", csv);
  expect(asked.pop()?.body).toMatchObject({ csv: "to_mobile_number;name\r\n+14155550188;Jürgen Groß\r\n" });
  await parley("batch", "pause", "bat_1");
  expect(asked[1]?.line).toBe("POST /v1/public/call-batches/bat_1/pause");
});

test("a template is sent on WhatsApp, with values for its body or with all its components", async () => {
  const template = ["--agent", "agt_1", "--template", "order_update", "--language", "en_US"];
  const { stdout, status } = await parley("whatsapp", "send", "+14155550123", ...template, "--value", "Ada");
  expect([status, stdout]).toEqual([0, expect.stringContaining("QUEUED")]);
  const named = { name: "order_update", language: "en_US" };
  const components = [{ type: "body", parameters: [{ type: "text", text: "Ada" }] }];
  const request = { agent_id: "agt_1", to_mobile_number: "+14155550123" };
  const file = join(folder, "components.json");
  await Bun.write(file, JSON.stringify(components));
  await parley("whatsapp", "send", "+14155550123", ...template, "--components", file);
  await parley("whatsapp", "send", "+14155550123", ...template);
  expect(asked.map(({ line, body }) => [line, body])).toEqual(
    [{ ...named, components }, { ...named, components }, named].map((sent) => [
      "POST /v1/public/whatsapp/messages",
      { ...request, template: sent },
    ]),
  );
});

test("a file without components is refused before anything is sent", async () => {
  const file = join(folder, "components.json");
  await Bun.write(file, "{}");
  const template = ["--agent", "agt_1", "--template", "order_update", "--language", "en_US"];
  const { stderr, status } = await parley("whatsapp", "send", "+14155550123", ...template, "--components", file);
  expect([status, stderr]).toEqual([1, expect.stringContaining("must be a JSON array of components")]);
  expect(asked).toEqual([]);
});
