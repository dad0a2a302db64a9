import { describe, expect, test } from "bun:test";
import { markedLine, matchIn } from "./match.ts";

/** The line with each match in brackets. */
const lineOf = (text: string, search: string) =>
  markedLine(text, search)
    ?.map(({ text, isMatch }) => (isMatch ? `[${text}]` : text))
    .join("");

describe("the line of a search", () => {
  test("has every place of the text marked, in any letter case", () => {
    expect(lineOf("An order is an Order.", "ORDER")).toBe("An [order] is an [Order].");
    expect(lineOf("GRÜSSE and Grüsse", "grüsse")).toBe("[GRÜSSE] and [Grüsse]");
  });

  test("takes characters of patterns literally", () => {
    for (const search of ["a.b*", "(x)", "100 %", "[\\d]", "a-b", "$^|{}+?/"])
      expect(lineOf(`Say ${search} now`, search)).toBe(`Say [${search}] now`);
    expect(lineOf("axb", "a.b")).toBeUndefined();
  });

  test("is the one line of a text of several, and marked as cut when it is", () => {
    expect(lineOf("First.\nThe second one.\nThird.", "second")).toBe("…The [second] one.…");
    const line = lineOf(`${"word ".repeat(50)}needle${" word".repeat(50)}`, "needle") ?? "";
    expect(line).toMatch(/^…word .*\[needle\] word.*…$/);
    expect(line.length).toBeLessThan(180);
  });
});

describe("a search finds in a conversation", () => {
  const conversation = {
    conversation_transcript: [
      { role: "assistant" as const, content: "Hello.", timestamp: "" },
      { role: "user" as const, content: "Where is my parcel?", timestamp: "" },
    ],
    mobile_number: "+14155550123",
    conversation_metadata: { dynamic_variables: { customer: "Ada" }, tags: ["Platinum"], nothing: null },
  };

  test("who said it", () => {
    expect(matchIn(conversation, "PARCEL")?.where).toBe("User");
    expect(matchIn(conversation, "hello")?.where).toBe("Agent");
  });

  test("its number and what came with it, by name", () => {
    expect(matchIn(conversation, "5550123")?.where).toBe("Number");
    expect(matchIn(conversation, "ada")?.where).toBe("customer");
    expect(matchIn(conversation, "platinum")).not.toBeNull();
  });

  test("nothing, when the list does not have the text", () => {
    expect(matchIn(conversation, "elsewhere")).toBeNull();
  });
});
