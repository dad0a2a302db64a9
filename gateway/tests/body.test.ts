import { expect, test } from "bun:test";
import { readJson, readRaw } from "../src/http/body.ts";

const requestOf = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  new Request("http://gateway/", { method: "POST", body, headers: { "content-type": "application/json", ...headers } });

test("a JSON object is returned with its original bytes", async () => {
  const { value, bytes } = await readJson(requestOf('{"a": "ü"}'));
  expect(value).toEqual({ a: "ü" });
  expect(Buffer.from(bytes).toString()).toBe('{"a": "ü"}');
});

const NO_JSON = "The request body is not valid JSON";
const NO_OBJECT = "The request body must be a JSON object";
test.each([
  ["bytes that are no UTF-8", requestOf(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), 400, NO_JSON],
  ["half a document", requestOf('{"a":'), 400, NO_JSON],
  ["a word", requestOf("hello"), 400, NO_JSON],
  ["what follows a document", requestOf("{},"), 400, NO_JSON],
  ["nothing", requestOf(""), 400, "The request body is empty. It must be a JSON object."],
  ["an array", requestOf("[]"), 400, NO_OBJECT],
  ["a string", requestOf('"x"'), 400, NO_OBJECT],
  ["a number", requestOf("1"), 400, NO_OBJECT],
  ["null", requestOf("null"), 400, NO_OBJECT],
  ["true", requestOf("true"), 400, NO_OBJECT],
  [
    "another type",
    requestOf("{}", { "content-type": "text/plain" }),
    415,
    "The request body must be sent with Content-Type: application/json",
  ],
  [
    "what is compressed",
    requestOf("{}", { "content-encoding": "gzip" }),
    415,
    "The request body must be sent without Content-Encoding",
  ],
  ["more than 1 MiB", requestOf(`"${"a".repeat(1024 * 1024)}"`), 413, "The request body must be at most 1 MiB"],
])("%s is refused", async (_, request, status, detail) => {
  await expect(readJson(request)).rejects.toMatchObject({ name: "HttpError", status, message: detail });
});

test.each(["12345678901234567890", "-9007199254740993", "[9007199254740993]", `1${"0".repeat(300)}`])(
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
  "%s is kept as it was sent",
  async (text) => {
    expect((await readJson(requestOf(`{"a":${text}}`))).value).toEqual({ a: JSON.parse(text) });
  },
);

const metadataOf = (json: string) => requestOf(`{"agent_id":"a","metadata":${json}}`);
/** A document has two values besides those in `metadata`: itself and `agent_id`. `metadata` counts as one, too. */
const FIT = 10_000 - 3;

test.each([
  ["empty arrays", Array(FIT + 1).fill([])],
  ["empty objects", Array(FIT + 1).fill({})],
  ["numbers, some in containers of their own", [...Array(FIT - 5).fill(1), [[1], { '"[,': ["]"] }]]],
  ["short texts full of brackets", Array(FIT + 1).fill('[{,"\\')],
])("a body of more than 10,000 values, %s, is refused by the name of its field", async (_, values) => {
  await expect(readJson(metadataOf(JSON.stringify(values)))).rejects.toMatchObject({
    kind: "invalid",
    detail: "metadata must not have more than 10000 values",
    violations: [{ path: "metadata" }],
  });
});

test("a body with 10,000 values is accepted, whatever its texts look like", async () => {
  const values = [...Array(FIT - 2).fill('[{,"\\'), {}, [] as unknown];
  expect((await readJson(metadataOf(JSON.stringify(values, null, 1)))).value.metadata).toEqual(values);
});

test("a route may accept more values, such as those of a batch of 10,000 calls", async () => {
  const dynamic_variables = { a: "1", b: "2", c: "3", d: "4" };
  const calls = Array.from({ length: 10_000 }, () => ({ to_mobile_number: "+14155550188", dynamic_variables }));
  const batch = (more: object) => requestOf(JSON.stringify({ agent_id: "a", calls, ...more }));
  const limits = { bytesMax: 4 * 1024 * 1024, valuesMax: 71_000 };
  expect((await readJson(batch({}), limits)).value.calls).toHaveLength(10_000);
  await expect(readJson(batch({ metadata: Array(1_000).fill(1) }), limits)).rejects.toMatchObject({
    kind: "invalid",
    detail: "metadata must not have more than 71000 values",
  });
});

test("a body of a million brackets is refused before it is parsed", async () => {
  const brackets = metadataOf("[".repeat(1_000_000));
  await expect(readJson(brackets)).rejects.toMatchObject({ kind: "invalid", violations: [{ path: "metadata" }] });
});

/** Sends the pieces and then nothing more. */
function endless(...pieces: string[]) {
  const cancelled = Promise.withResolvers<void>();
  const body = new ReadableStream({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(Buffer.from(piece));
    },
    cancel: () => cancelled.resolve(),
  });
  return { request: new Request("http://gateway/", { method: "POST", body }), cancelled: cancelled.promise };
}

test("a raw body is read piece by piece, and one that never ends is refused and released", async () => {
  const kept: number[] = [];
  const { request, cancelled } = endless("one", "three");
  const limits = { bytesMax: 100, withinMs: 50, keep: (bytes: number) => void kept.push(bytes) };
  await expect(readRaw(request, limits)).rejects.toMatchObject({ status: 408, headers: { Connection: "close" } });
  await cancelled;
  expect(kept).toEqual([3, 8]);
});

test("a raw body is refused as soon as it is too long or does not fit into memory", async () => {
  const room = { bytesMax: 7, withinMs: 60_000, keep: () => {} };
  await expect(readRaw(endless("one", "three").request, room)).rejects.toMatchObject({ status: 413 });
  const full = new Error("full");
  const none = {
    ...room,
    keep: () => {
      throw full;
    },
  };
  await expect(readRaw(endless("one").request, none)).rejects.toBe(full);
  const whole = new Request("http://gateway/", { method: "POST", body: "bytes" });
  expect(Buffer.from(await readRaw(whole, room)).toString()).toBe("bytes");
});
