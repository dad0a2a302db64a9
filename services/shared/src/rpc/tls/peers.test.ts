import { expect, test } from "bun:test";
import { refusePeer } from "./peers.ts";

/** A call from a peer whose certificate has these names. */
const callBy = (subjectaltname?: string) =>
  ({
    getAuthContext: () => ({ ...(subjectaltname !== undefined && { sslPeerCertificate: { subjectaltname } }) }),
  }) as Parameters<typeof refusePeer>[2];

const ADMITTED = { rest: ["gateway", "agent"], Make: ["parley"] };
const READ = "/parley.test.v1.TestService/Read";

test.each(["DNS:gateway", "DNS:localhost, DNS:gateway, IP Address:127.0.0.1", "IP Address:127.0.0.1, DNS:gateway"])(
  "a peer with %p is the gateway",
  (names) => {
    expect(refusePeer(ADMITTED, READ, callBy(names))).toBeNull();
  },
);

test.each([
  ["DNS:gateway.evil.example", "A peer with the names gateway.evil.example is not served here"],
  ["DNS:not-gateway", "A peer with the names not-gateway is not served here"],
  // Node quotes a name of another type that contains what looks like a DNS name.
  ['URI:"urn:x, DNS:gateway"', "A peer without a name is not served here"],
  ["URI:urn:DNS:gateway", "A peer without a name is not served here"],
  ["", "A peer without a name is not served here"],
  [undefined, "A peer without a name is not served here"],
])("a peer with %p is not the gateway", (names, details) => {
  expect(refusePeer(ADMITTED, READ, callBy(names))?.details).toBe(details);
});

test("a method with its own list of callers admits only those", () => {
  const make = "/parley.test.v1.TestService/Make";
  expect(refusePeer(ADMITTED, make, callBy("DNS:parley"))).toBeNull();
  expect(refusePeer(ADMITTED, make, callBy("DNS:gateway"))?.details).toBe(
    "A peer with the names gateway is not served here",
  );
});

test("without certificates every caller is served", () => {
  expect(refusePeer(null, READ, callBy())).toBeNull();
});
