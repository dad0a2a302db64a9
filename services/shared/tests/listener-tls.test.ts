import { expect, test } from "bun:test";
import { listenerFiles } from "../src/tls/listener-tls.ts";

const NAMES = { address: "LISTEN", cert: "CERT", key: "KEY", insecure: "INSECURE" };
const plain = { address: "127.0.0.1:1", cert: "", key: "", insecure: "" };

test("a listener on loopback needs no certificate", () => {
  expect(listenerFiles(plain, NAMES)).toBeNull();
});

test("a listener beyond loopback needs a certificate, or the setting that TLS ends before it", () => {
  const beyond = { ...plain, address: "0.0.0.0:1" };
  expect(() => listenerFiles(beyond, NAMES)).toThrow(
    "LISTEN 0.0.0.0:1 is beyond loopback: set CERT and KEY, or INSECURE=1",
  );
  expect(listenerFiles({ ...beyond, insecure: "1" }, NAMES)).toBeNull();
  expect(listenerFiles({ ...beyond, cert: "a.pem", key: "a.key" }, NAMES)).toEqual({ cert: "a.pem", key: "a.key" });
});

test("half a certificate is refused", () => {
  expect(() => listenerFiles({ ...plain, cert: "a.pem" }, NAMES)).toThrow("CERT and KEY go together: set both");
});
