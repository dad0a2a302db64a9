import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runHere } from "./run-here.ts";

const folder = await mkdtemp(join(tmpdir(), "parley-cli-knowledge-"));
const DOCUMENTS = "/v1/public/knowledge-bases/kb_1/documents";
const PENDING = { id: "doc_1", name: "prices.md", status: "PENDING", error: null, chunk_count: 0, duplicate: false };

let asked: { line: string; body: unknown }[] = [];
/** What a document becomes when it is looked at. */
let becomes: object[] = [];

/** Answers like the API, and keeps the requests. */
const api = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const { pathname, search } = new URL(request.url);
    asked.push({ line: `${request.method} ${pathname}${search}`, body: await contentOf(request) });
    if (pathname.endsWith("/search"))
      return Response.json({
        chunks: [
          {
            ...{ name: "prices.md", heading: "Repairs", text: "Small repairs\u001b[2J cost 40 euros." },
            ...{ score: 0.7412, lexical_score: 0.81, semantic_score: null },
          },
        ],
      });
    if (pathname.endsWith("kb_used"))
      return Response.json({ detail: "The knowledge base is used by the agent Front desk" }, { status: 409 });
    if (pathname === "/v1/public/knowledge-bases")
      return Response.json({ id: "kb_1", name: "Prices", knowledge_bases: [] });
    if (pathname === DOCUMENTS && request.method === "GET") return Response.json({ documents: [PENDING] });
    if (request.method === "GET") return Response.json({ ...PENDING, text: "the text", ...becomes.shift() });
    return Response.json(PENDING);
  },
});
afterAll(async () => {
  await api.stop(true);
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  asked = [];
  becomes = [];
});

async function contentOf(request: Request): Promise<unknown> {
  if (!request.headers.get("content-type")?.startsWith("multipart/")) {
    const text = await request.text();
    return text === "" ? null : JSON.parse(text);
  }
  const fields: Record<string, unknown> = {};
  for (const [name, value] of (await request.formData()).entries())
    fields[name] = typeof value === "string" ? value : [value.name, await value.text()];
  return fields;
}

const parley = (...args: string[]) =>
  runHere(["knowledge", ...args], { PARLEY_URL: api.url.origin, PARLEY_API_KEY: "vk_1", PARLEY_HOME: folder });

test("a knowledge base is made, gets a file and a page, and both are sent as the API takes them", async () => {
  const file = join(folder, "prices.md");
  await Bun.write(file, "Small repairs cost 40 euros.");
  const made = await parley("create", "--name", "Prices", "--description", "What repairs cost.");
  expect([made.status, made.stdout]).toEqual([0, expect.stringContaining("kb_1")]);
  const added = await parley("add", "kb_1", file, "--language", "en");
  expect([added.status, added.stdout]).toEqual([0, expect.stringContaining("PENDING")]);
  await parley("replace", "kb_1", "doc_1", "https://shop.example/prices", "--refresh-hours", "24");
  expect(asked).toEqual([
    { line: "POST /v1/public/knowledge-bases", body: { name: "Prices", description: "What repairs cost." } },
    { line: `POST ${DOCUMENTS}`, body: { file: ["prices.md", "Small repairs cost 40 euros."], language: "en" } },
    { line: `PUT ${DOCUMENTS}/doc_1`, body: { url: "https://shop.example/prices", refresh_hours: 24 } },
  ]);
});

test("with --wait, a document is shown once it is read, and one that cannot be read ends with its reason and status 1", async () => {
  const file = join(folder, "waits.md");
  await Bun.write(file, "Closed on Sundays.");
  becomes = [{ status: "PENDING" }, { status: "READY", chunk_count: 1 }];
  const ready = await parley("add", "kb_1", file, "--wait", "--json");
  expect([ready.status, JSON.parse(ready.stdout)]).toEqual([0, expect.objectContaining({ status: "READY" })]);
  becomes = [{ status: "FAILED", error: "The PDF is encrypted." }];
  const failed = await parley("refresh", "kb_1", "doc_1", "--wait");
  expect([failed.status, failed.stdout, failed.stderr]).toEqual([
    1,
    expect.stringContaining("FAILED"),
    expect.stringContaining("The PDF is encrypted."),
  ]);
});

test("a search prints each chunk with its document and scores, and nothing that controls the terminal", async () => {
  const { status, stdout } = await parley("search", "kb_1", "small repair", "--max-chunks", "3");
  expect([status, stdout]).toEqual([
    0,
    "prices.md > Repairs  score 0.74 (words 0.81)\n  Small repairs\\u001b[2J cost 40 euros.\n",
  ]);
  expect(asked[0]?.body).toEqual({ query: "small repair", max_chunks: 3 });
});

test("documents are listed, read and deleted, and a knowledge base that agents use is refused with status 1", async () => {
  expect((await parley("documents", "kb_1", "--status", "PENDING")).stdout).toContain("prices.md");
  expect((await parley("documents", "kb_1", "doc_1")).stdout).toBe("the text\n");
  expect((await parley("delete", "kb_1", "doc_1")).status).toBe(0);
  expect(asked.map(({ line }) => line)).toEqual([
    `GET ${DOCUMENTS}?page_size=100&status=PENDING`,
    `GET ${DOCUMENTS}/doc_1?include=text`,
    `DELETE ${DOCUMENTS}/doc_1`,
  ]);
  const used = await parley("delete", "kb_used");
  expect([used.status, used.stderr]).toEqual([1, expect.stringContaining("used by the agent Front desk")]);
});

test.each([
  ["a file that is not there", ["add", "kb_1", "/nowhere/prices.pdf"], 1, "/nowhere/prices.pdf cannot be read"],
  ["hours for a file", ["add", "kb_1", "prices.pdf", "--refresh-hours", "3"], 2, "--refresh-hours is for pages"],
  ["standard input without a name", ["add", "kb_1", "-"], 2, "give a --name for standard input"],
] as const)("%s is refused before anything is sent", async (_what, args, status, sentence) => {
  const refused = await parley(...args);
  expect([refused.status, refused.stderr, asked]).toEqual([status, expect.stringContaining(sentence), []]);
});
