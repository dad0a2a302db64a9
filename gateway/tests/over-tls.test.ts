import { expect, test } from "bun:test";
import { withTransportSecurity } from "../src/auth/over-tls.ts";

const serve = withTransportSecurity(() => new Response("ok"));
const told = async (url: string, headers = {}) =>
  (await serve(new Request(url, { headers }))).headers.get("strict-transport-security");

test("a browser that comes over TLS is told to keep doing so, behind a proxy too, and one without TLS is not", async () => {
  expect(await told("https://api.example/")).toBe("max-age=31536000");
  expect(await told("http://api.example/", { "x-forwarded-proto": "https" })).toBe("max-age=31536000");
  expect(await told("http://api.example/", { "x-forwarded-proto": "http" })).toBeNull();
  expect(await told("http://127.0.0.1:8080/")).toBeNull();
});
