import { expect, test } from "bun:test";
import { PassThrough } from "node:stream";
import { formatJson, formatRecord, formatTable, write } from "./print.ts";

/** Clears a terminal, sets its title, and reverses the line. */
const STEERING = "\u001b[2J \u009b31m \u001b]0;x\u0007 \r\n \u202e";
const SHOWN = "\\u001b[2J \\u009b31m \\u001b]0;x\\u0007 \\u000d\\u000a \\u202e";

test("users' texts cannot control the terminal", () => {
  expect(formatRecord({ name: STEERING })).toBe(`name  ${SHOWN}`);
  expect(formatTable(["name"], [{ name: STEERING }])).toBe(`name\n${SHOWN}`);
  expect(formatRecord({ scopes: [STEERING] })).toBe(`scopes  ${SHOWN}`);
});

test("nor in JSON, which parses to the same value", () => {
  const json = formatJson({ name: STEERING }, 2);
  expect(json).toMatch(/^[\n -~]*$/);
  expect(JSON.parse(json)).toEqual({ name: STEERING });
});

test("however many texts a command writes, it leaves nothing listening on its output", async () => {
  const output = new PassThrough() as unknown as NodeJS.WriteStream;
  const before = output.listenerCount("error");
  for (let line = 0; line < 20; line++) await write(output, `${line}\n`);
  expect(output.listenerCount("error")).toBe(before);
});
