import { expect, test } from "bun:test";
import { requestOf } from "./request.ts";

const SENT = { event: "conversation.completed", payload: '{"a":"b c"}' };
const FIELDS = "event=conversation.completed&payload=%7B%22a%22%3A%22b%20c%22%7D";

test.each([
  ["https://a.example/hook", `https://a.example/hook?${FIELDS}`],
  ["https://a.example/hook?", `https://a.example/hook?${FIELDS}`],
  ["https://a.example/hook?x=1", `https://a.example/hook?x=1&${FIELDS}`],
  ["https://a.example/hook?x=1&", `https://a.example/hook?x=1&${FIELDS}`],
])("a GET to %s has the fields after its own query, with one separator", (url, asked) => {
  expect(requestOf(url, "GET", SENT)).toEqual({
    request: { url: asked, method: "GET", headers: {} },
    payload: SENT.payload,
  });
});

test("a form contains the payload byte for byte, and the signature covers exactly that part", () => {
  const payload = '{\n "text":\r\n "– 🎉 --parley"\r}';
  const { request, payload: signed } = requestOf("https://a.example/", "POST", { ...SENT, payload });
  const [, boundary = ""] = request.headers["content-type"]?.split("boundary=") ?? [];
  const lines = [
    `--${boundary}`,
    'Content-Disposition: form-data; name="event"',
    "",
    SENT.event,
    `--${boundary}`,
    'Content-Disposition: form-data; name="payload"',
    "",
    payload,
    `--${boundary}--`,
    "",
  ];
  expect(new TextDecoder().decode(request.body)).toBe(lines.join("\r\n"));
  expect(new TextDecoder().decode(signed as Uint8Array)).toBe(payload);
});
