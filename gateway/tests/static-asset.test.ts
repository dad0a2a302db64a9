import { describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { chooseEncoding, compressedForms, staticAsset } from "../src/http/answer/static-asset.ts";

const TEXT = "The same again and again. ".repeat(1_000);
const serve = staticAsset(
  compressedForms(async () => new TextEncoder().encode(TEXT)),
  { "Content-Type": "text/plain" },
);
const get = (headers: Record<string, string> = {}) =>
  // Only the headers that the test names, without those that a browser adds.
  serve(new Request("http://gateway/asset", { headers }));

describe("a static asset", () => {
  test("is sent in an encoding that the client accepts", async () => {
    const forms = [
      ["br", brotliDecompressSync],
      ["gzip", gunzipSync],
    ] as const;
    for (const [encoding, decompress] of forms) {
      const answer = await get({ "accept-encoding": encoding });
      expect(answer.headers.get("content-encoding")).toBe(encoding);
      const bytes = await answer.bytes();
      expect(bytes.length).toBeLessThan(TEXT.length / 10);
      expect(decompress(bytes).toString()).toBe(TEXT);
    }
    const plain = await get();
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(await plain.text()).toBe(TEXT);
  });

  test("is not resent to a client that has it", async () => {
    for (const encoding of ["br", "gzip", "identity"]) {
      const { headers } = await get({ "accept-encoding": encoding });
      const etag = headers.get("etag") ?? "";
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const again = await get({ "accept-encoding": encoding, "if-none-match": known });
        expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([304, etag, ""]);
      }
      expect((await get({ "accept-encoding": encoding, "if-none-match": '"other"' })).status).toBe(200);
    }
  });

  test("varies by the encodings that clients accept", async () => {
    const answers = await Promise.all([get(), get({ "accept-encoding": "gzip" }), get({ "accept-encoding": "br" })]);
    for (const { headers } of answers) expect(headers.get("vary")).toBe("Accept-Encoding");
    expect(new Set(answers.map(({ headers }) => headers.get("etag"))).size).toBe(3);
  });

  test("is read once, and again after a failure", async () => {
    let reads = 0;
    const failing = staticAsset(
      compressedForms(async () => {
        if (++reads === 1) throw new Error("no such file");
        return new Uint8Array([1]);
      }),
      { "Content-Type": "text/plain" },
    );
    const request = () => failing(new Request("http://gateway/asset"));
    await expect(request()).rejects.toThrow("no such file");
    await Promise.all([request(), request()]);
    await request();
    expect(reads).toBe(2);
  });
});

test.each([
  [null, "identity"],
  ["", "identity"],
  ["br, gzip", "br"],
  ["gzip, deflate", "gzip"],
  ["GZIP", "gzip"],
  ["gzip;q=1.0, br;q=0.5", "gzip"],
  ["br;q=0, gzip", "gzip"],
  ["*", "br"],
  ["*;q=0.1, gzip", "gzip"],
  ["deflate", "identity"],
  ["identity, br;q=0.5", "identity"],
] as const)("for %p, %s is chosen", (accepted, encoding) => {
  expect(chooseEncoding(accepted, ["br", "gzip", "identity"])).toBe(encoding);
});
