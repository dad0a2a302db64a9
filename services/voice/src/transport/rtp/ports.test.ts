import { afterEach, expect, test } from "bun:test";
import { bindRtpSocket } from "./ports.ts";

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

test("a call can have every port of the range, and the next one is refused", async () => {
  const range = { first: 26_001, last: 26_005 };
  const bind = () => bindRtpSocket("127.0.0.1", range, () => {});
  for (let at = 0; at < 5; at++) open.push(await bind());
  const ports = open.map((socket) => (socket as { port?: number }).port);
  expect(new Set(ports)).toEqual(new Set([26_001, 26_002, 26_003, 26_004, 26_005]));
  await expect(bind()).rejects.toThrow("No RTP port is free: try again later, or widen PARLEY_RTP_PORTS");
  open.pop()?.close();
  open.push(await bind());
});
