import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "@parley/testkit/eventually";
import { pdfOf } from "@parley/testkit/pdf";
import { DOCX, type MediaType, mediaTypeOf } from "../src/text/media-types.ts";
import { createParser, type Parsed, type ParserLimits } from "../src/text/parse.ts";
import { Refusal } from "../src/text/reading.ts";
import { textOf } from "../src/text/text-of.ts";
import { docxOf, ENCRYPTED, paragraph, wordTable } from "./documents.ts";

/** In a process of its own, as in the service. */
function parse(
  content: Uint8Array | string,
  mediaType: MediaType,
  limits: Partial<ParserLimits> = {},
): Promise<Parsed> {
  return createParser(limits).parse({ bytes: Buffer.from(content), mediaType }, new AbortController().signal);
}

/** Of a process; empty once it has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

test("a PDF's headings and the columns of its price list are kept", async () => {
  const page = [
    { text: "Prices", x: 50, y: 780, size: 20 },
    { text: "All prices are per month and include the support that every customer gets.", x: 50, y: 740 },
    { text: "Gold plan", x: 50, y: 700 },
    { text: "29.00", x: 300, y: 700 },
    { text: "Silver plan", x: 50, y: 685 },
    { text: "19.00", x: 300, y: 685 },
  ];
  expect(await parse(pdfOf([page]), "application/pdf")).toEqual({
    text: "# Prices\n\nAll prices are per month and include the support that every customer gets.\n\nGold plan | 29.00\nSilver plan | 19.00",
    language: "en",
    title: null,
    chunks: [
      {
        heading: "Prices",
        text: "All prices are per month and include the support that every customer gets.\n\nGold plan | 29.00\nSilver plan | 19.00",
      },
    ],
  });
});

test("a PDF's page numbers and running titles are left out, and its broken lines joined", async () => {
  const pages = [1, 2, 3].map((number) => [
    { text: "The handbook of the house", x: 50, y: 800 },
    { text: `This is the first line of the long paragraph on page ${number} with a divi-`, x: 50, y: 700 },
    { text: "ded word.", x: 50, y: 686 },
    { text: `Page ${number} of 3`, x: 250, y: 40 },
  ]);
  expect(await textOf(pdfOf(pages), "application/pdf")).toMatchObject({
    text: [
      "The handbook of the house",
      ...[1, 2, 3].map(
        (number) => `This is the first line of the long paragraph on page ${number} with a divided word.`,
      ),
    ].join("\n\n"),
  });
});

test("a Word document's headings, lists and tables are kept", async () => {
  const body = [
    paragraph("Preise", "Heading1"),
    paragraph("Alle Preise gelten im Monat."),
    wordTable([
      ["Tarif", "Preis"],
      ["Gold", "29 €"],
    ]),
  ];
  expect(await textOf(docxOf(body.join("")), DOCX)).toMatchObject({
    text: "# Preise\n\nAlle Preise gelten im Monat.\n\n| Tarif | Preis |\n| --- | --- |\n| Gold | 29 € |",
  });
});

test("a page's text is kept with its title, headings, lists and tables, without its menu and scripts", async () => {
  const page = `<html><head><title>Our shop</title></head><body><nav>Menu</nav><h1>Prices</h1>
    <p>The gold plan costs <b>29 euros</b> a month.</p>
    <table><tr><th>Plan</th><th>Price</th></tr><tr><td>Gold</td><td>29</td></tr></table>
    <ul><li>one</li><li>two<ul><li>three</li></ul></li></ul><script>alert(1)</script><footer>Imprint</footer></body></html>`;
  expect(await textOf(Buffer.from(page), "text/html")).toMatchObject({
    title: "Our shop",
    text: "# Our shop\n\n## Prices\n\nThe gold plan costs 29 euros a month.\n\n| Plan | Price |\n| --- | --- |\n| Gold | 29 |\n\n- one\n- two\n  - three",
  });
});

test("a table with semicolons in the code page of Windows becomes a table with its umlauts", async () => {
  const bytes = Buffer.from('Größe;Preis\r\n"Groß; rot";29,00\r\n', "latin1");
  expect(await textOf(bytes, "text/csv")).toMatchObject({
    text: "| Größe | Preis |\n| --- | --- |\n| Groß; rot | 29,00 |",
  });
});

test("the language that the owner gave is kept", async () => {
  const content = { bytes: Buffer.from("Hello to all of you"), mediaType: "text/plain", language: "sv" } as const;
  expect(await createParser().parse(content, new AbortController().signal)).toMatchObject({ language: "sv" });
});

const ENTITIES = `<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa">${[..."bcdefghij"].map((name, at) => `<!ENTITY ${name} "${`&${"abcdefghij"[at]};`.repeat(10)}">`).join("")}]>`;

test.each<[string, Uint8Array | string, MediaType, string]>([
  ["an encrypted PDF", pdfOf([[]], { trailer: ENCRYPTED }), "application/pdf", "The PDF is encrypted."],
  [
    "a PDF of pictures only",
    pdfOf([[], []]),
    "application/pdf",
    "The PDF has no text, only pictures. Let a program for text recognition (OCR) read it first.",
  ],
  [
    "a PDF of 100,000 pages",
    pdfOf([[]], { repeats: 100_000 }),
    "application/pdf",
    "The PDF has 100,000 pages. At most 5,000 can be read: split it.",
  ],
  ["a picture called a PDF", "\x89PNG\r\n\x1a\n", "application/pdf", "The file is not a PDF, or it is damaged."],
  [
    "an encrypted Word document",
    Buffer.from("d0cf11e0a1b11ae1", "hex"),
    DOCX,
    "The Word document is encrypted, or has the old format .doc. Save it as .docx without a password.",
  ],
  ["a text called a Word document", "hello", DOCX, "The file is not a Word document (.docx)."],
  [
    "an archive called a Word document",
    "PK\x03\x04 nothing",
    DOCX,
    "The Word document is damaged, or the file is another kind of document.",
  ],
  ["a page of a script", "<html><script>go()</script></html>", "text/html", "The document has no text."],
  ["bytes called text", "\x00\x01\x02", "text/plain", "The file is not text, or its text is damaged."],
])("%s fails with a sentence for its owner", async (_, content, mediaType, reason) => {
  expect(textOf(Buffer.from(content), mediaType)).rejects.toEqual(new Refusal(reason));
  await textOf(Buffer.from(content), mediaType).catch(() => {});
});

test("a damaged document fails with a sentence for its owner", async () => {
  expect(await parse("\x89PNG\r\n\x1a\n", "application/pdf")).toEqual({
    reason: "The file is not a PDF, or it is damaged.",
  });
});

test("XML entities that would grow to ten billion letters are not expanded", async () => {
  const text = await textOf(docxOf(paragraph("&j;"), ENTITIES), DOCX).then(
    ({ text }) => text,
    () => "",
  );
  expect(text.length).toBeLessThan(100);
});

test("a page nested 100,000 deep is read", async () => {
  expect(await textOf(Buffer.from(`${"<div>".repeat(100_000)}deep text`), "text/html")).toMatchObject({
    text: "deep text",
  });
});

test("an archive that grows to more memory than a document may take fails alone", async () => {
  const bomb = docxOf(Buffer.alloc(200 * 1024 ** 2, "<w:p/>"));
  expect(bomb.length).toBeLessThan(2 * 1024 ** 2);
  expect(await parse(bomb, DOCX, { memoryMax: 250 * 1024 ** 2 })).toEqual({
    reason: "The document takes too much memory to read. Split it into smaller documents.",
  });
});

test("a document that takes too long fails alone", async () => {
  expect(await parse("Hello", "text/plain", { timeMs: 1 })).toEqual({
    reason: "The document takes too long to read. Split it into smaller documents.",
  });
});

test("a document of more sections than its index may have fails alone", async () => {
  expect(await parse("# A\n".repeat(100_001), "text/markdown")).toEqual({
    reason: "The document has more than 100,000 sections. Split it into smaller documents.",
  });
});

test("a million spaces within a line are kept, and those at its end are not", async () => {
  const line = `a${" ".repeat(1_000_000)}b`;
  expect((await textOf(Buffer.from(`${line} \t\nc`), "text/plain")).text).toBe(`${line}\nc`);
});

test("a process that reads a document ends with the service, however that ends", async () => {
  const service = Bun.spawn([process.execPath, join(import.meta.dir, "reading-service.ts")], { stdout: "pipe" });
  const { value } = await service.stdout.getReader().read();
  const child = Number(Buffer.from(value ?? []).toString());
  expect(commandOf(child)).toContain("parse-document");
  service.kill("SIGKILL");
  await eventually(() => expect(commandOf(child)).toBe(""));
});

test("reading stops with the signal's reason when the document is deleted", async () => {
  const gone = new AbortController();
  const parsing = createParser().parse({ bytes: Buffer.from("Hello"), mediaType: "text/plain" }, gone.signal);
  gone.abort(new Error("deleted"));
  expect(parsing).rejects.toThrow("deleted");
  await parsing.catch(() => {});
});

test.each([
  ["prices.txt", "text/plain", "%PDF-1.7\n", "application/pdf"],
  ["prices.docx", "application/octet-stream", "PK\x03\x04", DOCX],
  ["prices.zip", "application/zip", "PK\x03\x04\x00\x00", null],
  ["photo.png", "image/png", "\x89PNG\r\n\x1a\n\x00\x00", null],
  ["page", "text/html; charset=utf-8", "hello", "text/html"],
  ["notes.txt", "text/plain", "<!DOCTYPE html><p>hello", "text/html"],
  ["README.md", "application/octet-stream", "# Hello", "text/markdown"],
  ["list.csv", "text/plain", "a,b", "text/csv"],
  ["notes", "", "hello", "text/plain"],
])("%s as %p that begins with %j is %p", (name, contentType, content, mediaType) => {
  expect(mediaTypeOf({ name, contentType, bytes: Buffer.from(content, "latin1") })).toBe(mediaType as MediaType);
});

test.each([
  ["UTF-8", (text: string) => Buffer.from(text)],
  ["UTF-16", (text: string) => Buffer.from(`\ufeff${text}`, "utf16le")],
])("a long text in %s is a text, wherever its lines and characters end", (_, bytesOf) => {
  for (const line of ["Цена дома высока.\n", "価格は百円です。\n", "価格は百円です。", "👍🏽"]) {
    for (const before of ["", "a", "ab", "abc"]) {
      const bytes = bytesOf(before + line.repeat(400));
      expect(mediaTypeOf({ name: "prices.txt", contentType: "", bytes })).toBe("text/plain");
    }
  }
});

test.each([
  ["windows-1251", "\xd6\xe5\xed\xe0 \xe4\xee\xec\xe0", "Цена дома"],
  ["Shift_JIS", "\x89\xbf\x8ai\x81I", "価格！"],
  ["utf-8", "caf\xe9", "café"],
  ["nothing-known", "caf\xe9", "café"],
])("a page that says it is in %s is read with its letters", async (codePage, content, text) => {
  const html = `<!doctype html><meta http-equiv="Content-Type" content="text/html; charset=${codePage}"><p>${content}</p>`;
  const bytes = Buffer.from(html, "latin1");
  expect(mediaTypeOf({ name: "", contentType: "", bytes })).toBe("text/html");
  expect((await textOf(bytes, "text/html")).text).toBe(text);
});

test("a file that begins with hundreds of comments is told apart as soon as any other", () => {
  const comments = "<!---->".repeat(500);
  const typeOf = (end: string) => mediaTypeOf({ name: "", contentType: "", bytes: Buffer.from(comments + end) });
  expect([typeOf("<html>"), typeOf("text")]).toEqual(["text/html", "text/plain"]);
});
