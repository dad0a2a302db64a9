import { expect, test } from "bun:test";
import { recordLog } from "@parley/testkit/recorded-log";
import { isLogLevel } from "../src/log.ts";

test("fields that are named like a secret are censored, at the top and one level down", () => {
  const { log, lines } = recordLog();
  const secrets = { api_key: "vk_1", apiKey: "vk_2", password: "p", secret: "whsec_1", authorization: "Bearer 1" };
  log.info({ ...secrets, params: secrets, headers: { "x-api-key": "vk_3", cookie: "s=1", host: "h" } }, "slip");
  const censored = Object.fromEntries(Object.keys(secrets).map((name) => [name, "[Redacted]"]));
  expect(lines).toMatchObject([
    { ...censored, params: censored, headers: { "x-api-key": "[Redacted]", cookie: "[Redacted]", host: "h" } },
  ]);
});

test.each([
  ...["accessToken", "access_token", "appSecret", "app_secret", "authToken", "auth_token", "token", "verifyToken"],
  ...["deviceToken", "currentPassword", "X-API-Key", "Set-Cookie", "Proxy-Authorization", "credential", "clientSecret"],
  ...["credentials", "cookies", "secrets", "api_keys", "privateKey", "signing_key", "PARLEY_MASTER_KEY", "passphrase"],
])("a field named %s is censored, and counts of tokens and keys' ids are not", (name) => {
  const { log, lines } = recordLog();
  log.info({ [name]: "hush", settings: { [name]: "hush" }, input_tokens: 7, key_id: "key_1" }, "slip");
  expect(JSON.stringify(lines)).not.toContain("hush");
  expect(lines).toMatchObject([{ input_tokens: 7, key_id: "key_1" }]);
});

test("an error is logged with its message and stack, and without the query", () => {
  const { log, lines } = recordLog();
  const err = Object.defineProperties(new Error("broken"), {
    query: { value: "select secret", enumerable: false },
    parameters: { value: ["vk_1"], enumerable: false },
  });
  log.error({ err }, "rpc failed");
  expect(lines).toMatchObject([{ level: "error", service: "test", err: { message: "broken" } }]);
  expect(JSON.stringify(lines)).not.toContain("vk_1");
});

test("an error is censored like everything else", () => {
  const { log, lines } = recordLog();
  log.warn({ err: Object.assign(new TypeError("broken"), { api_key: "vk_1", code: 7 }) }, "slip");
  expect(lines).toMatchObject([{ err: { type: "TypeError", message: "broken", api_key: "[Redacted]", code: 7 } }]);
  expect(JSON.stringify(lines)).not.toContain("vk_1");
});

test("a process whose log's disk is full keeps running", async () => {
  const script = new URL("./fixtures/log-lines.ts", import.meta.url).pathname;
  const child = Bun.spawn([process.execPath, script], {
    stdio: [new Blob(["one\ntwo"]), Bun.file("/dev/full"), "pipe"],
  });
  expect(await new Response(child.stderr).text()).toBe("went on after one\nwent on after two\n");
  expect(await child.exited).toBe(0);
});

test("the valid levels are the logger's", () => {
  expect(["trace", "info", "fatal", "silent"].map(isLogLevel)).toEqual([true, true, true, true]);
  expect(["", "loud", "toString"].map(isLogLevel)).toEqual([false, false, false]);
});
