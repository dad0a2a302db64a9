import { expect, test } from "bun:test";
import { iceServersOf } from "./ice-servers.ts";

const USE = { conversationId: "0199a8b0-0000-7000-8000-000000000001", until: new Date("2027-01-01T04:05:00.900Z") };

test("a TURN server gets credentials that end with the call, in the form that coturn checks", () => {
  const urls = ["turn:turn.example.com:3478", "turns:turn.example.com:5349"];
  const username = `1798776300:${USE.conversationId}`;
  // printf %s "$username" | openssl dgst -sha1 -hmac north -binary | base64
  expect(iceServersOf([{ urls }], "north", USE)).toEqual([
    { urls, username, credential: "aZh/iAl80TOAaaaJxejMFlymiaw=" },
  ]);
  expect(iceServersOf([{ urls }], "south", USE)[0]?.credential).not.toBe("aZh/iAl80TOAaaaJxejMFlymiaw=");
});

test("STUN servers, and TURN servers with credentials of their own, stay as the operator set them", () => {
  const servers = [
    { urls: ["stun:stun.example.com"] },
    { urls: ["turn:turn.example.com"], username: "parley", credential: "static" },
  ];
  expect(iceServersOf(servers, "north", USE)).toEqual(servers);
});
