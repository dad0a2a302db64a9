import { afterAll, expect, test } from "bun:test";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { creation, startTestService, update } from "./harness.ts";

const LONG = "a long one ".repeat(45_000);
/** Prompts whose contents together exceed a page. */
const MANY = 10;
const REFUSED = { kind: "condition", detail: expect.stringContaining("ask for a smaller page_size") };

const service = await startTestService();
afterAll(() => service.stop());

test("a page with more than 4 MiB of prompts is refused, with or without a search, and smaller pages are complete", async () => {
  const { client } = service;
  const ownerId = newOwner();
  for (let number = 0; number < MANY; number++) {
    await client.createPrompt(creation(ownerId, { promptName: `long ${number}`, promptContent: LONG }));
  }
  for (const search of ["", "a long"]) {
    for (const latestOnly of [true, false]) {
      const list = (number: number, size: number) =>
        client.listPrompts({ ownerId, search, latestOnly, page: { number, size } });
      expect(await failure(list(1, MANY))).toMatchObject(REFUSED);
      const pages = [];
      for (const number of [1, 2, 3]) pages.push(await list(number, MANY / 2));
      expect(pages.map(({ prompts, total }) => [prompts.length, total])).toEqual([
        [MANY / 2, MANY],
        [MANY / 2, MANY],
        [0, MANY],
      ]);
    }
  }
});

test("versions with more than 4 MiB in total are refused, and each can be read by its number", async () => {
  const { client } = service;
  const ownerId = newOwner();
  await client.createPrompt(creation(ownerId, { promptContent: LONG }));
  const versions = () => client.listPromptVersions({ ownerId, promptName: "greeting" });
  for (let version = 2; version <= MANY / 2; version++) await client.updatePrompt(update(ownerId, "greeting", LONG));
  expect((await versions()).versions).toHaveLength(MANY / 2);
  for (let version = MANY / 2; version < MANY; version++) await client.updatePrompt(update(ownerId, "greeting", LONG));
  const refused = { kind: "condition", detail: expect.stringContaining("?version=") };
  expect(await failure(versions())).toMatchObject(refused);
  const { prompt } = await client.getPrompt({ ownerId, reference: { promptName: "greeting", promptVersion: 1 } });
  expect(prompt?.promptContent).toBe(LONG);
});

test("a prompt that appears many times on a page counts each time, but not in batches that are not for a page", async () => {
  const { client } = service;
  const ownerId = newOwner();
  await client.createPrompt(creation(ownerId, { promptContent: LONG }));
  const read = (places: number, forPage: boolean) =>
    client.batchGetPrompts({
      items: Array(places).fill({ ownerId, reference: { promptName: "greeting", promptVersion: undefined } }),
      forPage,
    });
  expect(await failure(read(MANY, true))).toMatchObject(REFUSED);
  expect((await read(MANY, false)).results).toHaveLength(MANY);
  expect((await read(MANY / 2, true)).results.map(({ prompt }) => prompt?.promptContent)).toEqual(
    Array(MANY / 2).fill(LONG),
  );
});
