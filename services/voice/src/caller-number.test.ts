import { expect, test } from "bun:test";
import { callerNumber } from "./caller-number.ts";

test.each([
  "+266696687",
  "266696687",
  "+1266696687",
  "+86282452253",
  "+7378742833",
  "+2562533",
  "+8656696",
  "+7748283",
  "+94844353",
  "anonymous",
  "Anonymous",
  "ANONYMOUS",
  "+anonymous",
  "Restricted",
  "unavailable",
  "Unknown Caller",
  "No Caller ID",
  "+10000000000",
  "client:ada",
  "-1",
  "0",
  "+0123456789",
  "",
])("a caller reported as %p is withheld", (reported) => {
  expect(callerNumber(reported)).toBeNull();
});

test.each([
  ["+14155550161", "+14155550161"],
  ["14155550161", "+14155550161"],
  ["004930123456", "+4930123456"],
  ["\u202a+14155550161\u202c", "+14155550161"],
  ["+1 (415) 555-0161", "+14155550161"],
  // Numbers that contain a spelled word are numbers.
  ["+8628245225312", "+8628245225312"],
  ["+12666966875", "+12666966875"],
])("a caller reported as %p is %p", (reported, number) => {
  expect(callerNumber(reported)).toBe(number);
});
