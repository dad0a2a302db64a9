import { expect, test } from "bun:test";
import { checkOrigin } from "./origin.ts";

const ALLOWED = ["https://shop.example", "HTTPS://Help.Example:443/", "http://localhost:3000"];

test.each(["https://shop.example", "https://help.example", "http://localhost:3000"])(
  "a page of %s may show the widget, however its owner wrote the origin",
  (origin) => {
    expect(() => checkOrigin(origin, ALLOWED)).not.toThrow();
  },
);

test.each([
  "http://shop.example",
  "https://shop.example:8443",
  "https://shop.example.evil.example",
  "https://evil.example",
  "https://help.example.",
])("a page of %s, which is not listed, may not", (origin) => {
  expect(() => checkOrigin(origin, ALLOWED)).toThrow(
    `${origin} is not in widget_config.allowed_origins of the agent's published version: add it there`,
  );
});

test.each([
  "",
  "null",
  "https://shop.example/",
  "https://shop.example/page",
  "https://user@shop.example",
  "HTTPS://shop.example",
  "file:///etc/passwd",
  "javascript:alert(1)",
  `https://${"a".repeat(400)}.example`,
])("an origin that no browser sends for a page is refused: %p", (origin) => {
  expect(() => checkOrigin(origin, [...ALLOWED, origin, "null", "*"])).toThrow("must be the origin of a web page");
});

test.each([[undefined], [null], [[]], ["https://shop.example"], [[{}, 1, null]]])(
  "without a list of origins no page may show the widget: %p",
  (allowed) => {
    expect(() => checkOrigin("https://shop.example", allowed)).toThrow("allowed_origins");
  },
);
