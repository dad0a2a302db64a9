import { expect, test } from "bun:test";
import fc from "fast-check";
import { speakable } from "./speakable.ts";

function spokenOf(pieces: readonly string[]): string {
  const reply = speakable();
  return pieces.map((piece) => reply.push(piece)).join("") + reply.end();
}

test.each([
  [
    "emphasis",
    "This is **very** *important*, __really__ _so_ and ***now***.",
    "This is very important, really so and now.",
  ],
  ["struck-out words", "It costs ~~ten~~ nine, ~5 each.", "It costs ten nine, ~5 each."],
  ["emphasis in scripts without spaces", "**重要**です。*はい*。", "重要です。はい。"],
  ["a heading", "# Our hours\nNine to five.", "Our hours.\nNine to five."],
  ["a heading without a space", "##Our hours\n**Nine** to five.", "Our hours.\nNine to five."],
  ["a closed heading", "### **Our hours** ###\nTo end, press #\n", "Our hours.\nTo end, press #\n"],
  ["an underlined heading", "Our hours\n=========\nNine to five.", "Our hours\nNine to five."],
  ["a list", "We have:\n- tea\n* coffee\n+ cake!\n• bread\n", "We have:\ntea.\ncoffee.\ncake!\nbread.\n"],
  ["a numbered list", "1. Open the door\n2) Go in.", "1. Open the door.\n2) Go in."],
  ["a list in a list", "- Drinks\n  - tea\n    1. green", "Drinks.\ntea.\n1. green"],
  ["a list of tasks", "- [ ] call\n- [x] write\n", "call.\nwrite.\n"],
  ["a link", 'See [our *new* page](https://example.com/a_(b)?c=d "Title") now.', "See our new page now."],
  ["a link by name", "See [our page][1] now.\n\n[1]: https://example.com\n", "See our page now.\n\n"],
  ["a link around a picture", "[![Our logo](a.png)](https://example.com)", "Our logo"],
  ["a picture", "![A red chair](https://example.com/chair.png) costs ten.", "A red chair costs ten."],
  ["a footnote", "It is free[^1] and new [2].\n[^1]: Until May.", "It is free and new .\n Until May."],
  ["an address", "Go to https://www.example.com/book?day=3#top. Or http://foo.org!", "Go to example.com. Or foo.org!"],
  [
    "an address in brackets",
    "Go to <https://example.com/x> or <team@example.com>.",
    "Go to example.com or team@example.com.",
  ],
  ["an address without a scheme", "Go to www.example.com, please.", "Go to example.com, please."],
  ["an address before another script", "请访问https://example.com/a查看。", "请访问example.com查看。"],
  ["code in a sentence", "Your code is `X7K2`, press ``Enter``.", "Your code is X7K2, press Enter."],
  ["a block of code", "Run this:\n```sh\nrm -rf *\n```\nand wait.", "Run this:\nand wait."],
  ["a block of code in a list", "- Run:\n  ~~~\n  a\n  ~~~\n- Wait", "Run:\nWait"],
  ["a block of code that never ends", "Run this:\n```\nrm", "Run this:\n"],
  [
    "a table",
    "| Tea | Price |\n|:--|--:|\n| Green | 2 |\n| Black | 3 |\nEnjoy.",
    "Tea, Price.\nGreen, 2.\nBlack, 3.\nEnjoy.",
  ],
  ["a table without outer bars", "Tea | Price\n--- | ---\nGreen | 2", "Tea, Price\nGreen, 2"],
  ["a quotation", "> We open\n> > at nine.", "We open\nat nine."],
  ["a line between sections", "One.\n\n---\n\n* * *\nTwo.", "One.\n\n\nTwo."],
  ["emoji", "Hello 👋🏽! All good ✅ 👨‍👩‍👧 ❤️ 🇩🇪 1️⃣", "Hello ! All good     1"],
  ["tags", "One<br>two <b>three</b> <!-- four --> five", "One two three  five"],
  ["tags with attributes", "See <a href=\"https://x.org\" target='_blank'>us</a><br />now", "See us now"],
  ["a line that a backslash ends", "Nine to five.\\\nClosed today.", "Nine to five.\nClosed today."],
  ["a list with dashes", "– tea\n– cake\n", "tea.\ncake.\n"],
  ["characters by their names", "Q&amp;A &mdash; it&#39;s&nbsp;5&lt;6", "Q&A — it's 5<6"],
  ["an address with a user", "Go to https://me:secret@example.com/x.", "Go to example.com."],
  ["escaped marks", "\\*Not\\* \\# a \\[link\\](x)", "*Not* # a [link](x)"],
  ["Windows line ends", "- tea\r\n- cake\r\n", "tea.\r\ncake.\r\n"],
])("of %s, the words are spoken", (_what, written, words) => expect(spokenOf([written])).toBe(words));

test.each([
  "2 * 3 = 6 and 2*3 < 7, 5* hotel, price*",
  "2**3 = 8, AT&T, R&D; &c;",
  "Dial *72, then # or *.",
  "Mail jane_doe@example.com about snake_case_names.",
  "It is -5 degrees; a - b, 3.5 or 1.",
  "He said [sic] and [so on",
  "If a<b and c>d, say <your name>.",
  "#1 in town: to end, press #\nThen hang up",
  "I <3 you & a < b > c. AT&T (c) © ™",
  'Well... "no"! #1 - really?',
  "What, when, who? wwhat, hhttp, w",
  "12",
])("%j is plain text and is spoken as it is", (text) => expect(spokenOf([text])).toBe(text));

const UNITS = [
  ...'*_~`[](){}<>|#-+=.!:>\\ \n\r"5xа語है👍🏽1️⃣',
  "**",
  "```",
  "\n- ",
  "\n1. ",
  "\n# ",
  "[a](b)",
  "![a](",
  "https://",
  "&am",
  "&lt;",
  "www.a.b",
  "|--|",
  "word ",
  "<b>",
  "\n\n",
];
const pieces = fc.array(
  fc.array(fc.constantFrom(...UNITS), { maxLength: 8 }).map((units) => units.join("")),
  { maxLength: 12 },
);

test("what is spoken does not depend on how the text arrives", () => {
  fc.assert(
    fc.property(pieces, (given) => {
      const whole = given.join("");
      expect(spokenOf(given)).toBe(spokenOf([whole]));
      expect(spokenOf([...whole])).toBe(spokenOf([whole]));
      // Halves of characters, as some servers escape them.
      expect(spokenOf(whole.split(""))).toBe(spokenOf([whole]));
    }),
    { numRuns: 1_000 },
  );
});

test("a long tag is left out as it comes, and words behind a sign of less are not held back", () => {
  const link = `<a href="https://example.com/${"x".repeat(400)}" title='It is us' class=b >us</a>`;
  expect(spokenOf([...`See ${link} now`])).toBe("See us now");
  expect(speakable().push("If a<b and then")).toBe("If a<b and then");
});

test("each position in what is spoken has one in the text, in the same order, and the end is the end", () => {
  fc.assert(
    fc.property(pieces, (given) => {
      const reply = speakable();
      const whole = given.join("");
      const spoken = given.map((piece) => reply.push(piece)).join("") + reply.end();
      expect(reply.spoken()).toBe(spoken);
      const prefixes = Array.from({ length: spoken.length + 1 }, (_, at) => reply.writtenUntil(at));
      for (const [at, prefix] of prefixes.entries()) {
        expect(whole.startsWith(prefix)).toBe(true);
        expect(prefix.length).toBeGreaterThanOrEqual(prefixes[at - 1]?.length ?? 0);
      }
      expect(prefixes.at(-1)).toBe(whole);
    }),
  );
});

test("what was heard of a link, an address or emphasis is stored with its marks", () => {
  const reply = speakable();
  const text = "See **our** [page](https://example.com/a) at https://example.com/b today.";
  const spoken = reply.push(text) + reply.end();
  const heard = (words: string) => reply.writtenUntil(spoken.indexOf(words) + words.length);
  expect(heard("our")).toBe("See **our**");
  expect(heard("page")).toBe("See **our** [page](https://example.com/a)");
  expect(heard("example.com")).toBe("See **our** [page](https://example.com/a) at https://example.com/b");
  expect(heard("examp")).toBe("See **our** [page](https://example.com/a) at ");
});
