import { expect, test } from "bun:test";
import { anyCharacter } from "@parley/testkit/any-character";
import fc from "fast-check";
import { challenger } from "../challenger.ts";
import { readNameAddress, readUri, readVia } from "./address.ts";
import { readSip, writeSip } from "./message.ts";

/** With this many characters, work that grows with their square outlasts the test. */
const LONG = 1_000_000;

const head = (...lines: string[]) =>
  [
    "v: SIP/2.0/UDP host:5070;branch=z9hG4bK1",
    "f: <sip:a@b>;tag=1",
    "t: <sip:c@d>",
    "i: call",
    "CSeq: 1 INVITE",
    ...lines,
  ]
    .map((line) => `${line}\r\n`)
    .join("");
const read = (text: string) => readSip(Buffer.from(text));
const invite = (headers: string, body = "") => `INVITE sip:c@d SIP/2.0\r\n${headers}\r\n${body}`;

test("compact names, folded lines and lists are read as their long forms", () => {
  const message = read(
    invite(head('m: "Smith, \\"J\\"" <sip:j@h>;q=1 , <sip:k@h;a=1,2>', "Subject: first", "  second", "l: 0")),
  );
  expect(message?.headers.get("via")).toEqual(["SIP/2.0/UDP host:5070;branch=z9hG4bK1"]);
  expect(message?.headers.get("contact")).toEqual(['"Smith, \\"J\\"" <sip:j@h>;q=1', "<sip:k@h;a=1,2>"]);
  expect(message?.headers.get("subject")).toEqual(["first second"]);
});

test("a body ends where its length says, and where its datagram does if no length is given", () => {
  expect(read(invite(head("Content-Length: 3"), "abcdef"))?.body).toBe("abc");
  expect(read(invite(head(), "abcdef"))?.body).toBe("abcdef");
  expect(read(invite(head("Content-Length: 7"), "abcdef"))).toBeNull();
});

test.each([
  ["no end of the head", invite(head()).trimEnd()],
  ["another protocol", invite(head()).replace("SIP/2.0\r\n", "SIP/3.0\r\n")],
  ["no call", invite(head()).replace("i: call\r\n", "")],
  ["a line that is no header", invite(head("no header"))],
  ["a length that is no number", invite(head("Content-Length: many"))],
  ["too many headers", invite(head(...Array.from({ length: 200 }, () => "X: y")))],
])("a message with %s is not read", (_what, text) => {
  expect(read(text)).toBeNull();
});

test("what is written is read as the same message", () => {
  const message = read(invite(head("Contact: <sip:j@h>", "Max-Forwards: 70"), "body äöü"));
  expect(message && read(writeSip(message))).toEqual(message && { ...message, headers: withLength(message.headers) });
});

test("arbitrary text is read or refused, and never throws", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 400 }), (text) => {
      read(text);
      read(invite(head(text)));
      readUri(text);
      readNameAddress(text);
      readVia(text);
    }),
  );
});

test.each([
  ["brackets that do not close", "<".repeat(LONG)],
  ["quotes that do not close", '"\\'.repeat(LONG)],
  ["a line that ends in the middle after spaces", `${" ".repeat(LONG)}\rx`],
  ["names without values", `Digest ${"a".repeat(LONG)}`],
])("%s are read in one pass", (_what, value) => {
  read(invite(head(`Contact:${value}`)));
  const asked = { method: "INVITE", from: "192.0.2.1" };
  expect(challenger(() => 0).check(value, asked, { username: "a", password: "b", realm: "c" })).toBe("stale");
});

test.each([
  ["sip:agt_1@127.0.0.1:5060;transport=tcp", { user: "agt_1", host: "127.0.0.1", port: 5060 }],
  ["sips:+15551234567@[2001:db8::1]", { scheme: "sips", user: "+15551234567", host: "2001:db8::1", port: null }],
  ["sip:j%40h:secret@example.com?Subject=x", { user: "j@h", host: "example.com" }],
  ["sip:example.com", { user: "", host: "example.com" }],
])("the URI %s is read", (text, expected) => {
  expect(readUri(text)).toMatchObject(expected);
});

test.each([
  ["tel:+1-(415)-555.0123", "+1-(415)-555.0123"],
  ["tel:555-0123;phone-context=+1415", "+1415555-0123"],
])("the number of %p is %p", (text, user) => {
  expect(readUri(text)).toMatchObject({ scheme: "tel", user });
});

test.each(["mailto:a@b", "tel:", "sip:", "sip:a@b:99999", "sip:%zz@b", "sip:a@b c"])("%p is not a SIP URI", (text) => {
  expect(readUri(text)).toBeNull();
});

function withLength(headers: Map<string, string[]>): Map<string, string[]> {
  return new Map(headers).set("content-length", ["11"]);
}
