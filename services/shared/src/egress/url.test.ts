import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseAllowList } from "./allow-list.ts";
import { EgressError } from "./error.ts";
import { checkUrl, urlChecker } from "./url.ts";

const allow = parseAllowList("ollama.internal,10.0.0.5:8000,localhost:3000");

describe("checkUrl", () => {
  test.each([
    "https://api.example.com/v1",
    "https://api.example.com:8443/v1?key=1",
    "https://8.8.8.8/",
    "https://[2606:4700:4700::1111]/",
    "http://ollama.internal:11434/v1",
    "http://10.0.0.5:8000/v1",
    "https://10.0.0.5:8000/v1",
    "http://localhost:3000/",
  ])("%s may be stored", (text) => {
    expect(checkUrl(text, allow).href).toStartWith(text);
  });

  test.each([
    ["not a url", "The address must start with https://"],
    ["shop.example:8443/orders", "The address must start with https://"],
    ["127.0.0.1:9000", "The address must start with https://"],
    ["https://", "The address is not a valid URL"],
    ["https://host:65536/", "The address is not a valid URL"],
    ["https://host:0/", "The address has no valid port"],
    ["ftp://ollama.internal/", "The address must start with https://"],
    ["file:///etc/passwd", "The address must start with https://"],
    ["http://api.example.com/", "The address must start with https://, unless"],
    ["http://10.0.0.5:8001/", "The address must start with https://, unless"],
    ["https://user@api.example.com/", "The address must not contain a user name or password"],
    ["https://:secret@api.example.com/", "The address must not contain a user name or password"],
    ["https://api.example.com/#top", "The address must not contain a fragment (#)"],
    ["https://api.example.com/#", "The address must not contain a fragment (#)"],
    ["https://api.example.com./", "The host name must not end in a dot"],
    ["https://127.0.0.1./", "127.0.0.1 is not at a public address"],
    ["https://localhost/", "localhost is not at a public address"],
    ["https://a.localhost/", "a.localhost is not at a public address"],
    ["https://127。0。0。1/", "127.0.0.1 is not at a public address"],
    ["https://%31%32%37.1/", "127.0.0.1 is not at a public address"],
    ["https://[::1]/", "::1 is not at a public address"],
    ["https://[fd00:ec2::254]/", "fd00:ec2::254 is not at a public address"],
  ])("%s is refused: %s", (text, message) => {
    expect(refusal(text)).toMatchObject({ kind: "forbidden", message: expect.stringContaining(message) });
  });

  test("no spelling of a private IPv4 address is accepted", () => {
    fc.assert(
      fc.property(privateAddress, spelling, (address, spell) => {
        expect(refusal(`https://${spell(address)}/v1`)).toMatchObject({ kind: "forbidden" });
      }),
      { numRuns: 2_000 },
    );
  });
});

function refusal(text: string): EgressError {
  try {
    checkUrl(text, allow);
  } catch (error) {
    if (error instanceof EgressError) return error;
    throw error;
  }
  throw new Error(`${text} was accepted`);
}

const privateAddress = fc
  .constantFrom<[number, number][]>(
    [0x00000000, 8],
    [0x0a000000, 8],
    [0x64400000, 10],
    [0x7f000000, 8],
    [0xa9fe0000, 16],
    [0xac100000, 12],
    [0xc0a80000, 16],
    [0xc6120000, 15],
    [0xe0000000, 4],
    [0xf0000000, 4],
  )
  .chain(([base, bits]) => fc.integer({ min: base, max: base + 2 ** (32 - bits) - 1 }));

const octets = (n: number) => [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255];
const hex16 = (n: number) => `${(n >>> 16).toString(16)}:${(n & 0xffff).toString(16)}`;
const number = fc.constantFrom(
  (n: number) => String(n),
  (n: number) => `0x${n.toString(16)}`,
  (n: number) => `0X${n.toString(16).toUpperCase()}`,
  (n: number) => `0${n.toString(8)}`,
  (n: number) => `000${n.toString(8)}`,
  (n: number) => String(n).replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
  (n: number) => String(n).replace(/\d/g, (digit) => `%3${digit}`),
);
const dotted = fc
  .tuple(number, number, number, number, fc.integer({ min: 1, max: 4 }))
  .map(([a, b, c, d, count]) => (address: number) => {
    const parts = octets(address);
    const tail = parts.slice(count - 1).reduce((sum, octet) => sum * 256 + octet, 0);
    return [...parts.slice(0, count - 1), tail].map((part, at) => [a, b, c, d][at]?.(part)).join(".");
  });
const spelling = fc.oneof(
  dotted,
  fc.constantFrom(
    (n: number) => `[::ffff:${octets(n).join(".")}]`,
    (n: number) => `[::ffff:${hex16(n)}]`,
    (n: number) => `[0:0:0:0:0:FFFF:${hex16(n)}]`,
    (n: number) => `[::${octets(n).join(".")}]`,
    (n: number) => `[64:ff9b::${octets(n).join(".")}]`,
    (n: number) => `[64:ff9b:1::${hex16(n)}]`,
    (n: number) => `[2002:${hex16(n)}::1]`,
    (n: number) => `[2001::${hex16(~n >>> 0)}]`,
  ),
);

test("a remembering check gives the same URL again, forgets the oldest of many, and refuses each time what is forbidden", () => {
  const check = urlChecker(allow);
  const first = check("https://api.example.com/0");
  expect(check("https://api.example.com/0")).toBe(first);
  for (let at = 1; at < 1_000; at++) check(`https://api.example.com/${at}`);
  expect(check("https://api.example.com/0")).toBe(first);
  check("https://api.example.com/1000");
  expect(check("https://api.example.com/0")).not.toBe(first);
  const long = `https://api.example.com/${"a".repeat(500)}`;
  expect(check(long)).not.toBe(check(long));
  for (let time = 0; time < 2; time++) expect(() => check("https://127.0.0.1/")).toThrow(EgressError);
});
