import { expect, test } from "bun:test";
import { readJson } from "../src/http/body.ts";

const requestOf = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  new Request("http://gateway/", { method: "POST", body, headers: { "content-type": "application/json", ...headers } });

test("a JSON object is read, with the bytes that it came in", async () => {
  const { value, bytes } = await readJson(requestOf('{"a": "ü"}'));
  expect(value).toEqual({ a: "ü" });
  expect(Buffer.from(bytes).toString()).toBe('{"a": "ü"}');
});

test.each([
  ["bytes that are no UTF-8", requestOf(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), 400],
  ["half a document", requestOf('{"a":'), 400],
  ["an array", requestOf("[]"), 400],
  ["null", requestOf("null"), 400],
  ["another type", requestOf("{}", { "content-type": "text/plain" }), 415],
  ["what is compressed", requestOf("{}", { "content-encoding": "gzip" }), 415],
  ["more than 1 MiB", requestOf(`"${"a".repeat(1024 * 1024)}"`), 413],
])("%s is refused", async (_, request, status) => {
  await expect(readJson(request)).rejects.toMatchObject({ name: "HttpError", status });
});

test.each(["12345678901234567890", "-9007199254740993", "[9007199254740993]"])(
  "the number %s, which would lose digits, is refused by its name",
  async (number) => {
    const body = `{"metadata":{"account":${number}}}`;
    const path = number.startsWith("[") ? "metadata.account.0" : "metadata.account";
    await expect(readJson(requestOf(body))).rejects.toMatchObject({
      kind: "invalid",
      detail: `${path} must be text: a number with so many digits loses some`,
    });
  },
);

test.each(["9007199254740991", "9007199254740992", "1e20", "0.12345678901234567890", '"12345678901234567890"'])(
  "%s is kept as it came",
  async (text) => {
    expect((await readJson(requestOf(`{"a":${text}}`))).value).toEqual({ a: JSON.parse(text) });
  },
);
