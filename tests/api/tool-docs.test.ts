import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { signed, signingKeyOf } from "@parley/shared/webhook-signature";
import { eventually } from "@parley/testkit/eventually";
import { obtain } from "@parley/testkit/programs/obtain";

const page = await Bun.file(join(import.meta.dir, "../../docs/tools.md")).text();
const folder = await mkdtemp(join(tmpdir(), "parley-tool-docs-"));
const children: Bun.Subprocess[] = [];
afterAll(async () => {
  for (const child of children) {
    child.kill("SIGKILL");
    await child.exited;
  }
  await rm(folder, { recursive: true });
});

const API_KEY = "a-key-of-the-booking-server";
const [OTHER_SECRET, SECRET] = ["other", "ours"].map((key) => `whsec_${Buffer.from(key.repeat(6)).toString("base64")}`);

/** The page's servers: the language of their block, and how they are started. */
const SERVERS: [language: string, start: (file: string, port: string) => Promise<string[]>][] = [
  ["ts", async (file) => [process.execPath, file]],
  ["python", async (file) => ["python3", file]],
  ["go", async (file) => ["sh", "-c", `"$0" build -o "$1".bin "$1" && exec "$1".bin`, await obtain("go"), file]],
  ["php", async (file, port) => [await obtain("php"), "-S", `127.0.0.1:${port}`, file]],
];

describe.each(SERVERS)("the page's server in %s", (language, start) => {
  let url = "";

  async function ask(method: string, path: string, body = "", given: Record<string, string> = {}) {
    const headers = { authorization: `Bearer ${API_KEY}`, "idempotency-key": "call-1", ...given };
    const signature = signed([signingKeyOf(SECRET ?? "")], headers["idempotency-key"], body, new Date());
    const content = body === "" ? {} : { body };
    const response = await fetch(url + path, { method, headers: { ...signature, ...headers }, ...content });
    return { status: response.status, ...((await response.json()) as { message: string }) };
  }
  const book = (key: string, people = 4) =>
    ask("POST", "/bookings", JSON.stringify({ people, day: "Friday" }), { "idempotency-key": key });

  test(`starts as the page says, in ${language}`, async () => {
    const [, block = ""] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "ms").exec(page) ?? [];
    const file = join(folder, `booking.${language}`);
    await Bun.write(file, block);
    const [port = 0] = await freePorts(1);
    url = `http://127.0.0.1:${port}`;
    const env = { API_KEY, SIGNING_SECRETS: `${OTHER_SECRET} ${SECRET}`, PORT: String(port) };
    children.push(
      Bun.spawn(await start(file, String(port)), {
        cwd: folder,
        env: { PATH: process.env.PATH ?? "", HOME: folder, ...env },
        stdio: ["ignore", "ignore", "inherit"],
      }),
    );
    await eventually(() => fetch(url), 120_000);
  }, 180_000);

  test(`answers a signed GET, whose body is empty, in ${language}`, async () => {
    expect(await ask("GET", "/tables?day=Friday")).toEqual({ status: 200, message: "2 tables are free on Friday." });
  });

  test(`books once for requests with the same idempotency key, in ${language}`, async () => {
    const booked = { status: 201, message: "Your table for 4 on Friday is booked." };
    expect(await book("call-1")).toEqual(booked);
    expect(await book("call-1")).toEqual(booked);
    expect(await ask("GET", "/tables?day=Friday")).toMatchObject({ message: "1 tables are free on Friday." });
  });

  test(`refuses a booking when no table is free, in ${language}`, async () => {
    await book("call-2", 2);
    expect(await book("call-3", 2)).toEqual({ status: 409, message: "No table is free on Friday." });
  });

  test.each([
    ["a signature of another body", { "webhook-signature": "v1,c2lnbmF0dXJl" }],
    ["another id", { "webhook-id": "call-9" }],
    ["no key of the API", { authorization: "Bearer guessed" }],
    ["an old timestamp", { ...signed([signingKeyOf(SECRET ?? "")], "call-1", "", new Date(Date.now() - 301_000)) }],
  ])(`refuses a request with %s, in ${language}`, async (_what, given) => {
    expect(await ask("GET", "/tables?day=Friday", "", given)).toMatchObject({ status: 401 });
  });
});
