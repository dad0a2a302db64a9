import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChannelCredentials, credentials, type ServerCredentials, status } from "@grpc/grpc-js";
import {
  type Certificate,
  createAuthority,
  createCertificate,
  storeCertificate,
} from "@parley/testkit/tls/certificates";
import { silentLogger } from "../src/log.ts";
import { createClient } from "../src/rpc/client.ts";
import { serve } from "../src/rpc/server.ts";
import type { TlsFiles } from "../src/rpc/tls/certificates.ts";
import { peerCredentials } from "../src/rpc/tls/credentials.ts";
import { RAW_ECHO, type RawEcho, rawClient, serveRawEcho } from "./fixtures/raw-echo.ts";
import { TestService } from "./fixtures/test-service.ts";

// Mutual TLS of grpc-js on Bun, with credentials made as every process makes them (src/rpc/tls/credentials.ts).

let folder: string;
let authority: Certificate;
let files: Record<"server" | "gateway" | "stranger", TlsFiles>;
let echo: RawEcho;
let admitting: ServerCredentials;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-tls-"));
  authority = await createAuthority("Parley test authority");
  const foreign = await createAuthority("Somebody else's authority");
  files = {
    server: await storeCertificate(folder, "server", authority, await createCertificate(authority, "agent.parley")),
    gateway: await storeCertificate(folder, "gateway", authority, await createCertificate(authority, "gateway.parley")),
    stranger: await storeCertificate(folder, "stranger", authority, await createCertificate(foreign, "gateway.parley")),
  };
  admitting = peerCredentials(files.server, silentLogger).server;
  echo = await serveRawEcho(admitting);
});
afterAll(async () => {
  echo.stop();
  await rm(folder, { recursive: true, force: true });
});

test("a peer with a certificate of the same authority is served, and its names are known to the server", async () => {
  const before = echo.hanging.length;
  expect(await call(channelOf(files.gateway), "Once")).toBe("served");
  const hanging = call(channelOf(files.gateway), "Hang", 300);
  expect(await hanging).toBe(status.DEADLINE_EXCEEDED);
  const { transportSecurityType, sslPeerCertificate } = echo.hanging[before]?.getAuthContext() ?? {};
  expect(transportSecurityType).toBe("ssl");
  expect(sslPeerCertificate?.subjectaltname).toContain("DNS:gateway.parley");
});

test("a peer without TLS is refused", async () => {
  expect(await call(credentials.createInsecure(), "Once")).toBe(status.UNAVAILABLE);
});

test("a peer without a certificate is refused", async () => {
  expect(await call(credentials.createSsl(Buffer.from(authority.cert)), "Once")).toBe(status.UNAVAILABLE);
});

test("a peer with a certificate of another authority is refused", async () => {
  expect(await call(channelOf(files.stranger), "Once")).toBe(status.UNAVAILABLE);
});

test("a server of another authority is not trusted", async () => {
  const impostor = await serveRawEcho(peerCredentials(files.stranger, silentLogger).server);
  expect(await call(channelOf(files.gateway), "Once", 5_000, impostor.address)).toBe(status.UNAVAILABLE);
  impostor.stop();
});

test("our adapters work over mutual TLS", async () => {
  const server = await serve(
    TestService,
    { once: async (request) => ({ ...request, answered: true }) },
    { address: "127.0.0.1:0", log: silentLogger, credentials: admitting },
  );
  const client = createClient(TestService, {
    peer: "test",
    address: byName(server.address),
    credentials: channelOf(files.gateway),
  });
  expect(await client.once({ n: 1 })).toEqual({ n: 1, answered: true });
  client.close();
  await server.stop();
});

function channelOf(own: TlsFiles): ChannelCredentials {
  return peerCredentials(own, silentLogger).channel;
}

/** The answer, or the code of the failure. */
function call(
  channel: ChannelCredentials,
  name: "Once" | "Hang",
  timeoutMs = 5_000,
  address = echo.address,
): Promise<string | status> {
  const client = rawClient(byName(address), channel);
  const asIs = (bytes: Buffer) => bytes;
  const path = name === "Once" ? RAW_ECHO.once.path : RAW_ECHO.hang.path;
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      path,
      asIs,
      asIs,
      Buffer.from("served"),
      { deadline: Date.now() + timeoutMs },
      (error, response?: Buffer) => {
        client.close();
        resolve(error ? error.code : String(response));
      },
    );
  });
}

/** Bun refuses an IP address as the name of a TLS server. */
function byName(address: string): string {
  return address.replace("127.0.0.1", "localhost");
}
