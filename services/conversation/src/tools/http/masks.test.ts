import { expect, test } from "bun:test";
import { maskOf } from "./masks.ts";

const SECRET = 'p/s "ü+1';

test.each([
  ["as it is", SECRET],
  ["in JSON", JSON.stringify({ token: SECRET })],
  ["in JSON with escaped slashes", JSON.stringify(SECRET).replaceAll("/", "\\/")],
  ["in JSON of ASCII alone", JSON.stringify(SECRET).replace("ü", "\\u00fc")],
  ["in a URL", encodeURIComponent(SECRET)],
  ["in a URL in lower case", encodeURIComponent(SECRET).toLowerCase()],
  ["in a form", new URLSearchParams({ token: SECRET }).toString()],
])("a secret %s is masked", (_, text) => {
  const masked = maskOf([SECRET])(text);
  expect(masked).toContain("[secret]");
  expect(masked).not.toContain("ü");
  expect(masked).not.toContain("%C3");
});

test("a secret that contains another is masked whole", () => {
  expect(maskOf(["hunter22", "hunter22-admin"])("I am hunter22-admin, not hunter22")).toBe(
    "I am [secret], not [secret]",
  );
});

test("a text without secrets is unchanged", () => {
  expect(maskOf(["hunter22"])('{"ok":true}')).toBe('{"ok":true}');
});
