import { describe, expect, test } from "bun:test";
import { ConfigError } from "@parley/shared/config";
import { clientAddress, parseTrustedProxies } from "../src/http/client-address.ts";

describe("the client's address", () => {
  const trusted = parseTrustedProxies("10.0.0.0/8, fd00::/8");

  test.each([
    ["nothing forwarded", "203.0.113.7", null, "203.0.113.7"],
    ["a header from somebody untrusted", "203.0.113.7", "198.51.100.1", "203.0.113.7"],
    ["one proxy", "10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["two proxies", "10.0.0.1", "198.51.100.1, 10.0.0.2", "198.51.100.1"],
    ["a forged first entry", "10.0.0.1", "1.2.3.4, 198.51.100.1", "198.51.100.1"],
    ["an IPv4 peer on an IPv6 socket", "::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["an entry that is no address", "10.0.0.1", "unknown", "10.0.0.1"],
    ["trusted proxies only", "10.0.0.1", "10.0.0.2", "10.0.0.2"],
    ["IPv6", "fd00::1", "2001:db8::7", "2001:db8::7"],
  ])("behind %s is the right-most that is not trusted", (_, peer, forwarded, expected) => {
    expect(clientAddress(peer, forwarded, trusted)).toBe(expected);
  });

  test("an invalid proxy list is refused, naming the entry", () => {
    expect(() => parseTrustedProxies("10.0.0.0/8, nonsense")).toThrow(ConfigError);
    expect(() => parseTrustedProxies("10.0.0.0/8, nonsense")).toThrow('"nonsense"');
  });
});
