import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import https from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { eventually } from "@parley/testkit/eventually";
import { startRawServer } from "@parley/testkit/network/raw-server";
import { parseAllowList } from "./allow-list.ts";
import { createEgress, type EgressOptions } from "./egress.ts";

const pem = (name: string) => readFileSync(new URL(`testdata/${name}.pem`, import.meta.url), "utf8");
const allow = parseAllowList("api.example.test,other.example.test,evil.example.test,127.0.0.1");
const resolve = async () => ["127.0.0.1"];

let serverNames: unknown[] = [];
let hosts: unknown[] = [];
const server = https.createServer({ key: pem("api-key"), cert: pem("api") }, (request, response) => {
  hosts.push(request.headers.host);
  response.end("ok");
});
server.on("secureConnection", (socket: TLSSocket & { servername?: unknown }) => serverNames.push(socket.servername));
let port = 0;

beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());

async function withEgress<T>(options: Partial<EgressOptions>, use: (egress: typeof fetch) => Promise<T>): Promise<T> {
  const egress = createEgress({ allow, resolve, ca: pem("ca"), ...options });
  serverNames = [];
  hosts = [];
  return use(egress.fetch).finally(egress.close);
}

describe("TLS to a pinned address", () => {
  test("the certificate is for the URL's host, which is also sent as server name and Host", async () => {
    await withEgress({}, async (fetch) => {
      for (let turn = 0; turn < 3; turn++) {
        const response = await fetch(`https://api.example.test:${port}/`);
        expect(await response.text()).toBe("ok");
      }
      expect(serverNames).toEqual(["api.example.test"]);
      expect(hosts).toEqual(Array(3).fill(`api.example.test:${port}`));
    });
  });

  test("a name is looked up once for each request, and an open connection does not hide a changed answer", async () => {
    const answers = ["127.0.0.1", "10.0.0.1", "127.0.0.1"];
    const rebinding = { allow: parseAllowList("127.0.0.1"), resolve: async () => answers.splice(0, 1) };
    await withEgress(rebinding, async (fetch) => {
      const url = `https://api.example.test:${port}/`;
      expect(await (await fetch(url)).text()).toBe("ok");
      expect(answers).toHaveLength(2);
      await expect(fetch(url)).rejects.toMatchObject({ kind: "forbidden" });
      expect(answers).toHaveLength(1);
      expect(hosts).toHaveLength(1);
    });
  });

  test("two names at one address share no connection", async () => {
    await withEgress({}, async (fetch) => {
      for (const name of ["api", "other", "api", "other"])
        await (await fetch(`https://${name}.example.test:${port}/`)).text();
      expect(serverNames).toEqual(["api.example.test", "other.example.test"]);
    });
  });

  test("another name is refused before a request is sent, whether or not a connection is open", async () => {
    await withEgress({}, async (fetch) => {
      const wrong = { kind: "network", message: "evil.example.test has a certificate for another name" };
      await expect(fetch(`https://evil.example.test:${port}/`)).rejects.toMatchObject(wrong);
      await (await fetch(`https://api.example.test:${port}/`)).text();
      await expect(fetch(`https://evil.example.test:${port}/`)).rejects.toMatchObject(wrong);
      await expect(fetch(`https://127.0.0.1:${port}/`)).rejects.toMatchObject({
        message: "127.0.0.1 has a certificate for another name",
      });
      expect(hosts).toEqual([`api.example.test:${port}`]);
    });
  });

  test("an untrusted authority is refused, whatever the environment says", async () => {
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    const { fetch } = createEgress({ allow, resolve });
    try {
      await expect(fetch(`https://api.example.test:${port}/`)).rejects.toMatchObject({
        kind: "network",
        message: "api.example.test has a certificate from an authority that is not trusted here",
      });
      await withEgress({}, async (fetch) => {
        await expect(fetch(`https://evil.example.test:${port}/`)).rejects.toThrow("another name");
      });
    } finally {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    }
  });

  test("a handshake that never ends is abandoned, and its connection is closed", async () => {
    await using silent = await startRawServer(() => {});
    await withEgress({ connectTimeoutMs: 200 }, async (fetch) => {
      const reply = fetch(`https://api.example.test:${silent.port}/`);
      await expect(reply).rejects.toMatchObject({
        kind: "timeout",
        message: "api.example.test did not accept a connection in time",
      });
      await eventually(() => expect(silent.connections[0]?.isClosed).toBeTrue());
    });
  });
});
