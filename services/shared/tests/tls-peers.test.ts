import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChannelCredentials, credentials } from "@grpc/grpc-js";
import { HealthService } from "@parley/proto/grpc/health/v1/health.ts";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { KnowledgeServiceService } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { eventually } from "@parley/testkit/eventually";
import { failureOf } from "@parley/testkit/failures";
import { startServiceProcess } from "@parley/testkit/programs/service-process";
import { recordLog } from "@parley/testkit/recorded-log";
import { createAuthority, createCertificate, storeCertificate } from "@parley/testkit/tls/certificates";
import { PEERS } from "@parley/testkit/tls/peers";
import { ConfigError } from "../src/config.ts";
import type { ClientSettings } from "../src/rpc/client/sender.ts";
import { createClient } from "../src/rpc/client.ts";
import { type RunningServer, serve } from "../src/rpc/server.ts";
import type { TlsFiles } from "../src/rpc/tls/certificates.ts";
import { peerCredentials } from "../src/rpc/tls/credentials.ts";
import { ADMITTED, type ServiceName } from "../src/rpc/tls/peers.ts";
import { TestService } from "./fixtures/test-service.ts";

// A service admits the processes that peers.ts lists, with certificates of its own authority (docs/architecture.md).

const REREAD_MS = 20;
const DAY_MS = 24 * 60 * 60 * 1000;

const files: Record<string, TlsFiles> = {};

const folder = await mkdtemp(join(tmpdir(), "parley-peers-"));
const authority = await createAuthority("Parley test authority");
for (const name of new Set([...PEERS.account, "account", "prompt"]))
  files[name] = await storeCertificate(folder, name, authority, await createCertificate(authority, name));
const log = recordLog();
const server = await serveAs(files.account as TlsFiles);
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

function serveAs(own: TlsFiles): Promise<RunningServer> {
  return serve(
    TestService,
    {
      once: async (request) => request,
      async *many(request) {
        yield request;
      },
      collect: async () => ({}),
    },
    {
      address: "127.0.0.1:0",
      log: log.log,
      credentials: peerCredentials(own, log.log, REREAD_MS).server,
      // A method of the test's that admits only the command line, as some do at the account service.
      peers: { rest: PEERS.account, Collect: ["parley"] },
    },
  );
}

/** Bun refuses an IP address as the name of a TLS server. */
function settingsOf(channel: ChannelCredentials, to = server): ClientSettings {
  return { peer: "account", address: to.address.replace("127.0.0.1", "localhost"), credentials: channel };
}

/** The outcome of one call on a connection of its own. */
async function attempt(channel: ChannelCredentials, to = server): Promise<unknown> {
  const client = createClient(TestService, settingsOf(channel, to));
  try {
    return await client.once({ n: 1 });
  } catch (error) {
    return (error as { kind: string }).kind;
  } finally {
    client.close();
  }
}

const channelOf = (own: TlsFiles) => peerCredentials(own, log.log, REREAD_MS).channel;
const as = (name: string) => channelOf(files[name] as TlsFiles);

test.each([...PEERS.account])("%s, which the service admits, is served", async (name) => {
  expect(await attempt(as(name))).toEqual({ n: 1 });
});

test("a method reserved for one peer is refused to other admitted peers, which may call the rest", async () => {
  const collect = async (name: string) => {
    const client = createClient(TestService, settingsOf(as(name)));
    const answer = client.collect((async function* () {})());
    const kind = await answer.then(
      () => "served",
      (error) => error.kind,
    );
    client.close();
    return kind;
  };
  expect(await collect("parley")).toBe("served");
  expect(await collect("gateway")).toBe("internal");
  expect(log.lines.at(-1)).toMatchObject({ msg: "peer refused", reason: expect.stringContaining("gateway") });
  expect(await attempt(as("gateway"))).toEqual({ n: 1 });
});

test("every method reserved for a peer exists in its service", () => {
  const services = {
    account: AccountServiceService,
    agent: AgentServiceService,
    prompt: PromptServiceService,
    conversation: ConversationServiceService,
    "webhook-dispatcher": WebhookDispatcherServiceService,
    voice: VoiceServiceService,
    messaging: MessagingServiceService,
    knowledge: KnowledgeServiceService,
  };
  for (const [service, { rest: _, ...methods }] of Object.entries(ADMITTED)) {
    const known = Object.values(services[service as ServiceName]).map(({ path }) => path.split("/")[2] ?? "");
    expect(known).toEqual(expect.arrayContaining(Object.keys(methods)));
  }
});

describe("mutual TLS refuses", () => {
  test("a peer without TLS", async () => {
    expect(await attempt(credentials.createInsecure())).toBe("unavailable");
  });

  test("a peer without a certificate", async () => {
    expect(await attempt(credentials.createSsl(Buffer.from(authority.cert)))).toBe("unavailable");
  });

  test("a peer whose certificate is another authority's", async () => {
    const foreign = await createCertificate(await createAuthority("Another authority"), "gateway");
    expect(await attempt(channelOf(await storeCertificate(folder, "foreign", authority, foreign)))).toBe("unavailable");
  });

  test("a peer whose certificate has expired, or is not valid yet", async () => {
    const at = (days: number) => new Date(Date.now() + days * DAY_MS);
    for (const validity of [
      { notBeforeDate: at(-2), notAfterDate: at(-1) },
      { notBeforeDate: at(1), notAfterDate: at(2) },
    ]) {
      const own = await createCertificate(authority, "gateway", validity);
      expect(await attempt(channelOf(await storeCertificate(folder, "untimely", authority, own)))).toBe("unavailable");
    }
  });

  test("a peer that the service does not admit, whatever the method, and the log names it", async () => {
    const client = createClient(TestService, settingsOf(as("prompt")));
    const refused = { kind: "internal", cause: { details: expect.stringContaining("prompt") } };
    expect(await failureOf(client.once({ n: 1 }))).toMatchObject(refused);
    expect(await failureOf(client.many({ n: 1 })[Symbol.asyncIterator]().next())).toMatchObject(refused);
    expect(await failureOf(client.collect((async function* () {})()))).toMatchObject(refused);
    client.close();
    expect(log.lines.at(-1)).toMatchObject({ msg: "peer refused", reason: expect.stringContaining("prompt") });
  });

  test("a server that has no certificate of the authority", async () => {
    const foreign = await createAuthority("Another authority");
    const own = await storeCertificate(folder, "impostor", authority, await createCertificate(foreign, "account"));
    const impostor = await serveAs(own);
    expect(await attempt(as("gateway"), impostor)).toBe("unavailable");
    await impostor.stop();
  });
});

test("any peer with a certificate may query health", async () => {
  const client = createClient(HealthService, settingsOf(as("prompt")));
  expect(await client.check({ service: "" })).toEqual({ status: 1 });
  client.close();
});

test("new certificates are used without a restart, on both sides, and half-replaced ones are ignored", async () => {
  const own = await storeCertificate(folder, "rotated", authority, await createCertificate(authority, "account"));
  const rotating = await serveAs(own);
  const caller = await storeCertificate(folder, "caller", authority, await createCertificate(authority, "gateway"));
  const channel = channelOf(caller);
  expect(await attempt(channel, rotating)).toEqual({ n: 1 });

  const next = await createAuthority("The next authority");
  await Bun.write(own.key, (await createCertificate(next, "account")).key);
  // Each attempt takes about as long as the interval between readings of the files.
  for (let tries = 0; tries < 10; tries++) expect(await attempt(channel, rotating)).toEqual({ n: 1 });

  await storeCertificate(folder, "rotated", next, await createCertificate(next, "account"));
  await eventually(async () => expect(await attempt(channel, rotating)).toBe("unavailable"));
  await storeCertificate(folder, "caller", next, await createCertificate(next, "gateway"));
  await eventually(async () => expect(await attempt(channel, rotating)).toEqual({ n: 1 }));
  await rotating.stop();
});

test("files that are not certificates are a configuration error at the start", async () => {
  const broken = await storeCertificate(folder, "broken", authority, { cert: "no", key: "no" });
  expect(() => channelOf(broken)).toThrow(ConfigError);
  expect(() => channelOf({ ...broken, ca: "/nowhere" })).toThrow(ConfigError);
  const mixed = { ...(files.account as TlsFiles), key: files.gateway?.key ?? "" };
  expect(() => channelOf(mixed)).toThrow("is not the key of");
});

test("beyond loopback a service without certificates refuses to start and says what to do", async () => {
  const env = {
    DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
    PARLEY_AGENT_ADDRESS: "127.0.0.1:1",
    PARLEY_LISTEN: "0.0.0.0:0",
  };
  const failure = await failureOf(startServiceProcess("prompt", env));
  expect(String(failure)).toContain("beyond loopback: set PARLEY_TLS_CA, _CERT and _KEY, or PARLEY_INSECURE_GRPC=1");
});
