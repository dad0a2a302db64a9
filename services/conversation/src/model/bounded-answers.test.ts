import { expect, test } from "bun:test";
import { meterBodies } from "@parley/shared/egress/meter";
import { boundedDocument, boundedEvents } from "./bounded-answers.ts";

const values = `[${"0,".repeat(200_000)}0]`;
const text = JSON.stringify("\u0001".repeat(900_000));
const LONG = "an answer that is too long even without its texts";

function answering(body: string, status = 200): typeof fetch {
  return Object.assign(async () => new Response(body, { status }), { preconnect: () => {} });
}

test.each([
  ["a short event with many values", `data: {"x":[${"0,".repeat(50_000)}0]}\n\n`],
  ["a long text", `data: {"text":${text}}\n\ndata: [DONE]\n\n`],
  ["no event", `: ${"é".repeat(300_000)}\n`],
])("a stream with %s passes as it is", async (_, body) => {
  expect(await (await boundedEvents(answering(body))("http://model")).text()).toBe(body);
});

test.each([
  ["an event", `data: {"x":${values}}\n\n`],
  ["an event in many lines", `data: {"x":${values.replaceAll("0,0,0,0,", "0,0,0,0,\ndata: ")}}\n\n`],
])("a stream fails before the end of %s that takes long to parse", async (_, body) => {
  const response = await boundedEvents(answering(body))("http://model");
  let passed = "";
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) passed += decoder.decode(piece);
  };
  await expect(read()).rejects.toThrow(LONG);
  expect(passed).not.toContain("\n\n");
});

test("a document with a long text passes as it is, and one with many values fails", async () => {
  const good = `{"text":${text}}`;
  expect(await (await boundedDocument(answering(good))("http://model")).text()).toBe(good);
  await expect((await boundedDocument(answering(values))("http://model")).text()).rejects.toThrow(LONG);
});

test("an error is not examined", async () => {
  for (const bounded of [boundedEvents, boundedDocument])
    expect(await (await bounded(answering(values, 500))("http://model")).text()).toBe(values);
});

test("a stream passes its events on at its owner's pace", async () => {
  const meter = { ownerId: "own_1", received: () => {} };
  const { signal } = new AbortController();
  meterBodies(signal, meter);
  const counted: [owner: string, events: number][] = [];
  const goOn = Promise.withResolvers<void>();
  const take = (ownerId: string, events: number) => {
    counted.push([ownerId, events]);
    return goOn.promise;
  };
  const response = await boundedEvents(answering("data: {}\n\ndata: {}\n\n"), { take })("http://model", { signal });
  let passed = "";
  const reading = response.text().then((text) => {
    passed = text;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect({ counted, passed }).toEqual({ counted: [["own_1", 2]], passed: "" });
  goOn.resolve();
  await reading;
  expect(passed).toBe("data: {}\n\ndata: {}\n\n");
});
