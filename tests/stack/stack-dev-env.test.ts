import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readDevEnv, writeDevEnv } from "@parley/dev/stack/dev-env.ts";
import { openHome } from "@parley/dev/stack/home.ts";

const folder = await mkdtemp(join(tmpdir(), "parley-dev-env-"));
const home = openHome(folder);
afterAll(() => rm(folder, { recursive: true }));

const KEY = { apiKey: "vk_x", ownerId: "own_x", login: { email: "dev@localhost", password: "secret" } };
const write = (owner: Parameters<typeof writeDevEnv>[1]) =>
  writeDevEnv(home, owner, {
    url: "http://127.0.0.1:1",
    modelUrl: "http://127.0.0.1:2/v1",
    speechUrl: "http://127.0.0.1:3/v1",
    carrierUrl: "http://127.0.0.1:5",
    whatsAppUrl: "http://127.0.0.1:6",
    dailyUrl: "http://127.0.0.1:7/v1",
    sipAddress: "127.0.0.1:4",
    conversationAddress: "unix:/run/conversation.sock",
  });

test("the next start finds the owner, key and password of the last", () => {
  expect(readDevEnv(home)).toBeNull();
  const owner = { ...KEY, login: { email: "dev@localhost.localdomain", password: "-a_b=c" } };
  write(owner);
  expect(readDevEnv(home)).toEqual(owner);
});

test("a shell that sources it passes the variables to its commands", () => {
  const path = write(KEY);
  const { stdout } = Bun.spawnSync(["sh", "-c", `. ${path} && exec env`], { env: { PATH: process.env.PATH } });
  const given = stdout.toString().split("\n");
  expect(given).toContain("PARLEY_API_KEY=vk_x");
  expect(given).toContain("PARLEY_MODEL_URL=http://127.0.0.1:2/v1");
  expect(given).toContain("PARLEY_SPEECH_URL=http://127.0.0.1:3/v1");
  expect(given).toContain("PARLEY_CONVERSATION_ADDRESS=unix:/run/conversation.sock");
});

test("a shell without Bun that sources it can run the commands of the documentation", () => {
  const path = write(KEY);
  const { stdout } = Bun.spawnSync(["/bin/sh", "-c", `. ${path} && bun --version`], { env: { PATH: "" } });
  expect(stdout.toString().trim()).toBe(Bun.version);
});
