import { expect, test } from "bun:test";
import { maskOf } from "./masks.ts";

const SECRET = 'p/s "ü+1';

test.each([
  ["as it is", SECRET],
  ["in JSON", JSON.stringify({ token: SECRET })],
  ["in JSON with escaped slashes", JSON.stringify(SECRET).replaceAll("/", "\\/")],
  ["in JSON of ASCII alone", JSON.stringify(SECRET).replace("ü", "\\u00fc")],
  [
    "in JSON whose other characters are escaped, too",
    JSON.stringify(SECRET).replace("+", "\\u002B").replace("1", "\\u0031"),
  ],
  ["in a URL that keeps slashes", encodeURI(SECRET)],
  ["in a URL whose other characters are escaped, too", encodeURIComponent(SECRET).replace("1", "%31")],
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
  expect(maskOf(["hunter22"])("C:\\\\Users\\\\U0041 \\U0041 100%")).toBe("C:\\\\Users\\\\U0041 \\U0041 100%");
});

test("what surrounds a secret with escapes stays as it is written", () => {
  expect(maskOf(["hunter22"])('{"a\\n":"%20\\u0068unter22\\u00fc+"}')).toBe('{"a\\n":"%20[secret]\\u00fc+"}');
});

test("masking takes time in proportion to the text, also for a secret of escapes alone", () => {
  const secret = '\\"'.repeat(100);
  expect(maskOf([`${secret}x`])('\\\\"'.repeat(50_000))).not.toContain("[secret]");
});
