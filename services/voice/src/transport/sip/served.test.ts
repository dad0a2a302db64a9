import { expect, test } from "bun:test";
import { servedRequests } from "./served.ts";

const served = (at: number) => ({ at, last: null, stopRepeating: () => {} });

test("a network that sends without end makes its own requests forgotten, and those of no other", () => {
  const requests = servedRequests(60_000);
  requests.add("theirs", "192.0.2.1", served(0));
  for (let at = 0; at < 10_000; at++) requests.add(`ours ${at}`, `2001:db8::${(at % 100) + 1}`, served(0));
  expect(requests.find("theirs", "192.0.2.1")).toBeDefined();
  expect(requests.find("ours 0", "2001:db8::1")).toBeUndefined();
  expect(requests.find("ours 9999", "2001:db8::64")).toBeDefined();
});

test("requests are forgotten when they cannot be repeated anymore, even if their network sends nothing", () => {
  const requests = servedRequests(60_000);
  const now = performance.now();
  requests.add("old", "192.0.2.1", served(now));
  requests.add("new", "192.0.2.2", served(now + 61_000));
  expect(requests.find("old", "192.0.2.1")).toBeUndefined();
  expect(requests.find("new", "192.0.2.2")).toBeDefined();
});
