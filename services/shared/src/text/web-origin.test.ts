import { expect, test } from "bun:test";
import { webOriginOf } from "./web-origin.ts";

test.each([
  ["https://shop.example", "https://shop.example"],
  ["HTTPS://Help.Example:443/", "https://help.example"],
  ["http://localhost:3000", "http://localhost:3000"],
  ["https://münchen.example", "https://xn--mnchen-3ya.example"],
  ["http://[::1]:8080", "http://[::1]:8080"],
])("%s names the origin %s", (text, origin) => {
  expect(webOriginOf(text)).toBe(origin);
});

test.each([
  "",
  "shop.example",
  "//shop.example",
  "https://",
  "https://shop.example/page",
  "https://shop.example?page",
  "https://shop.example/#page",
  "https://user@shop.example",
  "https://*.shop.example",
  "*",
  "null",
  "ftp://shop.example",
  "file:///etc/passwd",
  `https://${"a".repeat(400)}.example`,
])("%p names no origin of web pages", (text) => {
  expect(webOriginOf(text)).toBeNull();
});
