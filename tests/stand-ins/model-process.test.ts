import { expect, test } from "bun:test";

const MAIN = new URL("../../dev/stand-ins/model/main.ts", import.meta.url).pathname;

function run(env: Record<string, string>) {
  return Bun.spawn([process.execPath, MAIN], { env: { ...process.env, ...env }, stdout: "pipe", stderr: "pipe" });
}

async function firstLine(stream: ReadableStream<Uint8Array>) {
  const { value } = await stream.getReader().read();
  return JSON.parse(new TextDecoder().decode(value));
}

test("the process prints its address and exits with 0 on SIGTERM, even during a stream", async () => {
  const child = run({ PORT: "0", PARLEY_MODEL_WORD_DELAY_MS: "60000" });
  const line = await firstLine(child.stdout);
  expect(line).toEqual({ level: "info", msg: "listening", address: expect.stringMatching(/^127\.0\.0\.1:\d+$/) });
  const body = JSON.stringify({ messages: [{ role: "user", content: "hello" }], stream: true });
  const response = await fetch(`http://${line.address}/v1/chat/completions`, { method: "POST", body });
  expect(response.status).toBe(200);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  await response.text().catch(() => {});
});

test("the process says what to do about a setting it cannot use", async () => {
  const child = run({ PORT: "http" });
  expect(await firstLine(child.stdout)).toEqual({
    level: "error",
    msg: "not started",
    error: 'PORT must be a whole number from 0 to 65535; it is "http"',
  });
  expect(await child.exited).toBe(1);
});

test("the process says what to do about a port that is taken", async () => {
  const taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const child = run({ PORT: String(taken.port) });
  expect((await firstLine(child.stdout)).error).toContain("set PORT to another");
  expect(await child.exited).toBe(1);
  await taken.stop(true);
});
