import { describe, expect, test } from "bun:test";
import { allowsAddress, allowsHost, parseAllowList } from "./allow-list.ts";

const allow = parseAllowList(
  " ollama.internal, Gateway.Internal:8443, 10.1.2.3:8000,192.168.0.0/16, ::1 ,[fd00::5]:9000, fd12::/16,, 10.0.0.9",
);

describe("parseAllowList", () => {
  test.each([
    ["ollama.internal", 80, true],
    ["ollama.internal", 11434, true],
    ["gateway.internal", 8443, true],
    ["gateway.internal", 443, false],
    ["x.ollama.internal", 80, false],
    ["ollama.internal.evil.test", 80, false],
    ["10.1.2.3", 8000, true],
    ["10.1.2.3", 80, false],
    ["192.168.77.1", 80, true],
    ["::1", 80, true],
    ["fd00::5", 9000, true],
    ["fd00::5", 80, false],
    ["10.0.0.9", 80, true],
    ["10.0.0.8", 80, false],
  ])("a list with host names, ports, addresses and ranges: %s at port %d is allowed: %p", (host, port, expected) => {
    expect(allowsHost(allow, host, port)).toBe(expected);
  });

  test("ranges count for resolved addresses, names do not", () => {
    expect(allowsAddress(allow, "fd12:3::1", 443)).toBeTrue();
    expect(allowsAddress(allow, "::ffff:192.168.0.1", 443)).toBeFalse();
    expect(allowsAddress(allow, "ollama.internal", 443)).toBeFalse();
  });

  test("an empty list allows nothing", () => {
    expect(parseAllowList(" , ")).toEqual([]);
    expect(allowsHost([], "127.0.0.1", 80)).toBeFalse();
  });

  test.each([
    "10.0.0.0/33",
    "10.0.0/8",
    "fd00::/129",
    "host:0",
    "host:65536",
    "host:",
    "http://host",
    "host/path",
    "user@host",
    "*.internal",
    "127.1",
    "0x7f.0.0.1",
    "2130706433",
    "256.0.0.1",
    "[::1",
    "[host]:80",
    "fe80::1%eth0",
    "two words",
    "host.",
  ])("an error names the bad entry %j", (entry) => {
    expect(() => parseAllowList(`localhost,${entry}`)).toThrow(`PARLEY_ALLOWED_PRIVATE_HOSTS: "${entry}" is not`);
  });
});
