import { afterAll, expect, test } from "bun:test";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { type Answer, answerOf } from "../kit/api.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import type { RunningStack } from "../kit/stack/use-stack.ts";

const stack: RunningStack = await sharedStack();
const [{ apiKey }, { apiKey: foreignKey }] = stack.owners;
const api = stack.api(apiKey);
afterAll(() => stack.stop());

const base = (await api.post("/knowledge-bases", { name: "Price lists" })).body;
const documents = `/knowledge-bases/${base.id}/documents`;

/** Sends a file as a browser's form does. */
async function upload(path: string, file: File, fields: object = {}, headers: object = {}): Promise<Answer> {
  const form = new FormData();
  form.append("file", file);
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const method = path === documents ? "POST" : "PUT";
  return answerOf(
    await fetch(`${stack.url}/v1/public${path}`, { method, body: form, headers: { "x-api-key": apiKey, ...headers } }),
  );
}

const settled = (id: string) =>
  eventually(async () => {
    const { body } = await api.get(`${documents}/${id}?include=text`);
    expect(body.status).not.toBe("PENDING");
    return body;
  });

test("a file becomes a document that searches find, and corrected content takes its place", async () => {
  const added = await upload(documents, new File(["# Repairs\n\nSmall repairs cost 40 euros."], "prices.md"));
  expect(added).toMatchObject({ status: 200, body: { name: "prices.md", status: "PENDING", duplicate: false } });
  const { id } = added.body;
  expect(await settled(id)).toMatchObject({
    status: "READY",
    media_type: "text/markdown",
    text: "# Repairs\n\nSmall repairs cost 40 euros.",
  });
  const found = async () => (await api.post(`/knowledge-bases/${base.id}/search`, { query: "small repairs" })).body;
  expect((await found()).chunks).toMatchObject([{ document_id: id, heading: "Repairs", name: "prices.md" }]);
  await upload(`${documents}/${id}`, new File(["Small repairs cost 45 euros.\n"], "new.txt"));
  expect(await settled(id)).toMatchObject({ status: "READY", name: "prices.md" });
  expect((await found()).chunks[0].text).toContain("45 euros");
});

test("a repeated upload with the same key is one document, and answers as the first one", async () => {
  const key = { "idempotency-key": newUuid() };
  const send = () => upload(documents, new File(["Large repairs cost 90 euros."], "large.txt"), {}, key);
  const [first, again] = [await send(), await send()];
  expect(again.body).toEqual(first.body);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
});

test("a file over 20 MiB is 413, a picture 422, and so is a body without content or with two", async () => {
  const large = await upload(documents, new File([new Uint8Array(20 * 1024 * 1024 + 1)], "large.txt"));
  expect([large.status, large.body.detail]).toEqual([413, "The file must be at most 20 MiB"]);
  const picture = await upload(documents, new File([new Uint8Array([137, 80, 78, 71, 0, 0])], "a.png"));
  expect([picture.status, picture.body.errors[0].path]).toEqual([422, "file"]);
  for (const body of [{ name: "a" }, { name: "a", text: "a", url: "https://shop.example" }, { text: "a" }])
    expect((await api.post(documents, body)).status).toBe(422);
  const form = new FormData();
  form.append("name", "no file");
  const headers = { "x-api-key": apiKey };
  expect((await fetch(`${stack.url}/v1/public${documents}`, { method: "POST", body: form, headers })).status).toBe(422);
});

test("another owner's key is 403 for the base and everything in it", async () => {
  const foreign = stack.api(foreignKey);
  for (const path of [`/knowledge-bases/${base.id}`, documents]) expect((await foreign.get(path)).status).toBe(403);
  expect((await foreign.post(documents, { name: "a", text: "a" })).status).toBe(403);
  expect((await foreign.post(`/knowledge-bases/${base.id}/search`, { query: "a" })).status).toBe(403);
});
