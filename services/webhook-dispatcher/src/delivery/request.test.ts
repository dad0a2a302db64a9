import { expect, test } from "bun:test";
import { requestOf } from "./request.ts";

const SENT = { event: "conversation.completed", payload: '{"a":"b c"}' };
const FIELDS = "event=conversation.completed&payload=%7B%22a%22%3A%22b%20c%22%7D";

test.each([
  ["https://a.example/hook", `https://a.example/hook?${FIELDS}`],
  ["https://a.example/hook?", `https://a.example/hook?${FIELDS}`],
  ["https://a.example/hook?x=1", `https://a.example/hook?x=1&${FIELDS}`],
  ["https://a.example/hook?x=1&", `https://a.example/hook?x=1&${FIELDS}`],
])("a GET to %s has the fields behind its own query, parted from it once", (url, asked) => {
  expect(requestOf(url, "GET", SENT)).toEqual({ url: asked, method: "GET", headers: {} });
});
