import { expect, test } from "bun:test";
import { applyPatch } from "diff";
import { unifiedDiff } from "./unified-diff.ts";

const between = (from: string, to: string) =>
  unifiedDiff({ title: "version 1", text: from }, { title: "version 2", text: to });

test("a diff has a head, the changed lines and three lines around them", async () => {
  expect(await between("1\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive")).toBe(
    [
      "--- version 1",
      "+++ version 2",
      "@@ -2,4 +2,4 @@",
      " 2",
      " 3",
      " 4",
      "-5",
      "+five",
      "\\ No newline at end of file",
      "",
    ].join("\n"),
  );
});

test("equal texts have an empty diff", async () => {
  expect(await between("Say hello.", "Say hello.")).toBe("");
});

test.each([
  ["with everything changed", numbered(2_000, "a"), numbered(900, "b")],
  [
    "with lines before and after the changes",
    `1\n2\n3\n4\n${numbered(2_000, "a")}5`,
    `1\n2\n3\n4\n${numbered(9, "b")}5`,
  ],
])("texts too different to be compared line by line, %s, have a diff that applies", async (_, from, to) => {
  const diff = await between(from, to);
  expect(applyPatch(from, diff)).toBe(to);
  expect(diff.match(/^@@/gm)).toHaveLength(1);
});

function numbered(count: number, of: string): string {
  return Array.from({ length: count }, (_, at) => `${of}${at}\n`).join("");
}
