import { expect, test } from "bun:test";
import { ConfigError, readConfig } from "../src/config.ts";
import { isLoopback, TLS_VARIABLES, tlsFiles } from "../src/rpc/tls/credentials.ts";

const NOTHING = { PARLEY_TLS_CA: "", PARLEY_TLS_CERT: "", PARLEY_TLS_KEY: "", PARLEY_INSECURE_GRPC: "" };
const ALL = { ...NOTHING, PARLEY_TLS_CA: "/ca.pem", PARLEY_TLS_CERT: "/me.pem", PARLEY_TLS_KEY: "/me.key" };
const LOOPBACK = ["127.0.0.1:0", "127.8.9.10:50051", "localhost:50051", "[::1]:50051", "unix:/run/parley/agent.sock"];
const BEYOND = [
  "0.0.0.0:50051",
  "[::]:50051",
  "10.0.0.1:50051",
  "agent:50051",
  "127.0.0.1.example.com:50051",
  "localhost.example.com:50051",
  "1127.0.0.1:50051",
];

test.each(LOOPBACK)("%s is loopback and may be plain text", (listen) => {
  expect(isLoopback(listen)).toBe(true);
  expect(tlsFiles(NOTHING, listen)).toBeNull();
});

test.each(BEYOND)("%s is beyond loopback: refused without TLS unless explicitly allowed", (listen) => {
  expect(isLoopback(listen)).toBe(false);
  expect(() => tlsFiles(NOTHING, listen)).toThrow(ConfigError);
  expect(() => tlsFiles(NOTHING, listen)).toThrow(`PARLEY_LISTEN ${listen} is beyond loopback`);
  expect(tlsFiles({ ...NOTHING, PARLEY_INSECURE_GRPC: "1" }, listen)).toBeNull();
});

test("with all three files, TLS is used everywhere, even on loopback", () => {
  for (const listen of [...LOOPBACK, ...BEYOND]) {
    expect(tlsFiles(ALL, listen)).toEqual({ ca: "/ca.pem", cert: "/me.pem", key: "/me.key" });
  }
});

test("only some of the files are refused, even where plain text is allowed", () => {
  const names = ["PARLEY_TLS_CA", "PARLEY_TLS_CERT", "PARLEY_TLS_KEY"] as const;
  for (const name of names) {
    for (const partial of [
      { ...ALL, [name]: "" },
      { ...NOTHING, [name]: "/x", PARLEY_INSECURE_GRPC: "1" },
    ]) {
      expect(() => tlsFiles(partial, "127.0.0.1:0")).toThrow("go together: set all three");
    }
  }
});

test("PARLEY_INSECURE_GRPC is 1 or absent, nothing else", () => {
  expect(readConfig({}, TLS_VARIABLES)).toEqual(NOTHING);
  expect(readConfig({ PARLEY_INSECURE_GRPC: "1" }, TLS_VARIABLES).PARLEY_INSECURE_GRPC).toBe("1");
  expect(() => readConfig({ PARLEY_INSECURE_GRPC: "yes" }, TLS_VARIABLES)).toThrow(
    /PARLEY_INSECURE_GRPC.*must be 1 or absent/,
  );
});
