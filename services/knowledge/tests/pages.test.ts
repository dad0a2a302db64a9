import { afterAll, expect, test } from "bun:test";
import { fakeClock } from "@parley/testkit/clock";
import { eventually } from "@parley/testkit/eventually";
import { failure } from "@parley/testkit/failures";
import { DOCX } from "../src/text/media-types.ts";
import {
  addDocument,
  FAILED,
  newBase,
  PLAIN,
  page,
  READY,
  settled,
  startTestKnowledge,
  type TestBase,
  textOf,
} from "./kit.ts";

/** What the server answers by path; requests with their If-None-Match. */
const answers = new Map<string, () => Response>();
const asked: [string, string | null][] = [];
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) => {
    const { pathname } = new URL(request.url);
    asked.push([pathname, request.headers.get("if-none-match")]);
    return answers.get(pathname)?.() ?? new Response("Not here", { status: 404 });
  },
});
const clock = fakeClock();
const { client, sql, stop } = await startTestKnowledge({}, { clock });
afterAll(async () => {
  await stop();
  await server.stop(true);
});
const at = (path: string) => `${server.url.origin}${path}`;

async function addPage(base: TestBase, path: string, refreshHours?: number): Promise<string> {
  const request = { ...base, ...PLAIN, name: undefined, content: page(at(path), refreshHours) };
  return (await client.createDocument(request)).document?.documentId ?? "";
}

test("a page is fetched through three redirects, each checked, and no more", async () => {
  const base = await newBase(client);
  for (const [from, to] of [
    ["/1", "/2"],
    ["/2", "/3#prices"],
    ["/3", "/4"],
    ["/0", "/1"],
  ])
    answers.set(from ?? "", () => new Response(null, { status: 302, headers: { location: to ?? "" } }));
  answers.set("/4", () => new Response("Small repairs cost 40 euros."));
  answers.set("/private", () => new Response(null, { status: 302, headers: { location: "http://10.0.0.1/" } }));
  const [found, tooMany, forbidden, missing] = await Promise.all(
    ["/1", "/0", "/private", "/none"].map((path) => addPage(base, path)),
  );
  expect(await settled(client, base, found ?? "")).toMatchObject({ status: READY, name: at("/1"), url: at("/1") });
  expect(await textOf(client, base, found ?? "")).toBe("Small repairs cost 40 euros.");
  const errors = await Promise.all([tooMany, forbidden, missing].map((id) => settled(client, base, id ?? "")));
  expect(errors.map(({ status, error }) => [status, error])).toEqual([
    [FAILED, "The page was redirected more than 3 times."],
    [FAILED, expect.stringContaining("10.0.0.1")],
    [FAILED, "The page answered with HTTP status 404."],
  ]);
  expect(await failure(addPage(base, "/../x y"))).toMatchObject({ kind: "invalid", paths: ["url"] });
});

test("a refresh that fails keeps the old text and shows the error, and one without a change keeps the text", async () => {
  const base = await newBase(client);
  let body = "Small repairs cost 40 euros.";
  let etag = '"1"';
  answers.set("/prices", () => new Response(body, { headers: { etag } }));
  const documentId = await addPage(base, "/prices");
  const first = await settled(client, base, documentId);
  const refreshed = async () => {
    clock.advance(1_000);
    await client.refreshDocument({ ...base, documentId, idempotency: undefined });
    return settled(client, base, documentId);
  };
  answers.set("/prices", () => new Response(null, { status: 304 }));
  expect(await refreshed()).toMatchObject({ status: READY, error: undefined });
  expect(asked.at(-1)).toEqual(["/prices", '"1"']);
  answers.set("/prices", () => new Response("Broken", { status: 500 }));
  const failed = await refreshed();
  expect(failed).toMatchObject({ status: READY, error: "The page answered with HTTP status 500." });
  expect(failed.refreshedAt?.getTime()).toBeGreaterThan(first.refreshedAt?.getTime() ?? 0);
  expect(await textOf(client, base, documentId)).toBe("Small repairs cost 40 euros.");
  [body, etag] = ["Small repairs cost 45 euros.", '"2"'];
  answers.set("/prices", () => new Response(body, { headers: { etag } }));
  expect(await refreshed()).toMatchObject({ status: READY, error: undefined });
  expect(await textOf(client, base, documentId)).toBe("Small repairs cost 45 euros.");
});

test("a page that has not changed is read again when its language is another", async () => {
  const base = await newBase(client);
  const headers = { etag: '"1"' };
  answers.set("/houses", () => new Response("Die Häuser", { headers }));
  const documentId = await addPage(base, "/houses");
  expect(await settled(client, base, documentId)).toMatchObject({ language: "en" });
  const content = page(at("/houses"));
  await client.replaceDocument({ ...base, ...PLAIN, documentId, name: undefined, content, language: "de" });
  expect(await settled(client, base, documentId)).toMatchObject({ status: READY, language: "de" });
});

test("a Word document is told by its address where its server does not know what it is", async () => {
  const base = await newBase(client);
  const headers = { "content-type": "application/octet-stream" };
  for (const path of ["/prices.docx", "/prices.bin"])
    answers.set(path, () => new Response(Buffer.from("PK\x03\x04\x81", "latin1"), { headers }));
  const [word, other] = [await addPage(base, "/prices.docx"), await addPage(base, "/prices.bin")];
  expect(await settled(client, base, word)).toMatchObject({ status: READY, mediaType: DOCX });
  expect(await settled(client, base, other)).toMatchObject({
    status: FAILED,
    error: "The page is neither text nor HTML, a PDF or a DOCX.",
  });
});

test("a page whose server says that it has not changed, without having been asked, fails with that reason", async () => {
  const base = await newBase(client);
  answers.set("/unchanged", () => new Response(null, { status: 304 }));
  expect(await settled(client, base, await addPage(base, "/unchanged"))).toMatchObject({
    status: FAILED,
    error: "The page answered with HTTP status 304.",
  });
});

test("a page is fetched again when its hours have passed, and no more once it is another content", async () => {
  const base = await newBase(client);
  answers.set("/hourly", () => new Response("one"));
  const documentId = await addPage(base, "/hourly", 1);
  await settled(client, base, documentId);
  answers.set("/hourly", () => new Response("two"));
  clock.advance(3_600_000);
  // The sweep's own next time is a minute away by the clock, which stands still.
  await eventually(async () => {
    clock.advance(60_000);
    expect(await textOf(client, base, documentId)).toBe("two");
  });
  const { documentId: other } = await addDocument(client, base, "three");
  await settled(client, base, other);
  const content = page(at("/hourly"));
  await client.replaceDocument({ ...base, ...PLAIN, documentId, name: undefined, content });
  expect(await settled(client, base, documentId)).toMatchObject({ refreshHours: undefined });
  const [row] = await sql`select refresh_due_at from documents where document_id = ${documentId}`;
  expect(row?.refreshDueAt ?? row?.refresh_due_at).toBeNull();
});

test("a document that is no page has nothing to refresh", async () => {
  const base = await newBase(client);
  const { documentId } = await addDocument(client, base, "four");
  expect(await failure(client.refreshDocument({ ...base, documentId, idempotency: undefined }))).toMatchObject({
    kind: "condition",
    detail: "The document has no url to fetch: replace its content instead",
  });
});
