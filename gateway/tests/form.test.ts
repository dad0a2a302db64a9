import { expect, test } from "bun:test";
import { failureOf } from "@parley/testkit/failures";
import { readForm } from "../src/http/form.ts";

const MIB = 1024 * 1024;

function requestOf(fields: Record<string, string | File>): Request {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return new Request("http://gateway/", { method: "POST", body: form });
}

const file = (bytes: string | Uint8Array<ArrayBuffer> = "Prices", name = "prices.txt") =>
  new File([bytes], name, { type: "text/plain" });

test("a form has its file's bytes, name and type, and its other fields", async () => {
  const form = await readForm(requestOf({ file: file(), name: "Price list", language: "en" }), MIB);
  expect(form.value).toEqual({ name: "Price list", language: "en" });
  expect(form.file).toMatchObject({ name: "prices.txt", type: expect.stringContaining("text/plain") });
  expect(new TextDecoder().decode(form.file.bytes)).toBe("Prices");
});

test("the same form has the same fingerprint, whatever separates its parts, and another one has another", async () => {
  const fingerprint = async (fields: Record<string, string | File>) =>
    Buffer.from((await readForm(requestOf(fields), MIB)).bytes).toString("hex");
  const first = await fingerprint({ file: file(), name: "Price list" });
  expect(await fingerprint({ file: file(), name: "Price list" })).toBe(first);
  expect(await fingerprint({ file: file(), name: "Prices" })).not.toBe(first);
  expect(await fingerprint({ file: file("Prizes"), name: "Price list" })).not.toBe(first);
});

test("a file over the limit is 413, and one at the limit is read", async () => {
  const detail = "The file must be at most 1 MiB";
  const sized = (bytes: number) => readForm(requestOf({ file: file(new Uint8Array(bytes)) }), MIB);
  expect((await sized(MIB)).file.bytes).toHaveLength(MIB);
  expect(await failureOf(sized(MIB + 1))).toMatchObject({ status: 413, message: detail });
  expect(await failureOf(sized(2 * MIB))).toMatchObject({ status: 413, message: detail });
});

test("a form without a file is 422, and a body that is no form 400", async () => {
  expect(await failureOf(readForm(requestOf({ name: "Price list" }), MIB))).toMatchObject({
    kind: "invalid",
    violations: [{ path: "file" }],
  });
  expect(await failureOf(readForm(requestOf({ file: "Prices" }), MIB))).toMatchObject({ kind: "invalid" });
  const headers = { "content-type": "multipart/form-data; boundary=x" };
  const broken = new Request("http://gateway/", { method: "POST", body: "no form", headers });
  expect(await failureOf(readForm(broken, MIB))).toMatchObject({ status: 400 });
});
