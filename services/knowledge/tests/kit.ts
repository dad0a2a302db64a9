import { expect } from "bun:test";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { type Document, DocumentStatus } from "@parley/proto/parley/knowledge/v1/knowledge.ts";
import { KnowledgeServiceService } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { newUuid } from "@parley/shared/ids";
import { silentLogger } from "@parley/shared/log";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import { serve } from "@parley/shared/rpc/server";
import { createTestDatabase, FEW_CONNECTIONS } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import postgres from "postgres";
import { readKnowledgeConfig } from "../src/config.ts";
import { startKnowledge } from "../src/service.ts";
import type { Parser } from "../src/text/parse.ts";

export type KnowledgeClient = ServiceClient<typeof KnowledgeServiceService>;

export const {
  DOCUMENT_STATUS_PENDING: PENDING,
  DOCUMENT_STATUS_READY: READY,
  DOCUMENT_STATUS_FAILED: FAILED,
} = DocumentStatus;

export interface TestKnowledge {
  client: KnowledgeClient;
  sql: postgres.Sql;
  databaseUrl: string;
  /** The agents that use a base, by its id. */
  users: Map<string, string[]>;
  stop(): Promise<void>;
}

/** The service on a database of its own, which may fetch pages from loopback, with a stand-in for the agent service. */
export async function startTestKnowledge(
  env: Record<string, string> = {},
  settings: Parameters<typeof startKnowledge>[2] = {},
): Promise<TestKnowledge> {
  const database = await createTestDatabase();
  const users = new Map<string, string[]>();
  const agents = await serve(
    AgentServiceService,
    {
      listKnowledgeBaseUsers: async ({ knowledgeBaseId }) => {
        const agentNames = users.get(knowledgeBaseId) ?? [];
        return { agentNames, total: agentNames.length };
      },
    },
    { address: "127.0.0.1:0", log: silentLogger },
  );
  const config = readKnowledgeConfig({
    DATABASE_URL: database.urls.knowledge,
    ...FEW_CONNECTIONS,
    PARLEY_AGENT_ADDRESS: agents.address,
    PARLEY_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
    ...env,
  });
  const running = await startKnowledge(config, silentLogger, { pollMs: 50, parser: plainParser, ...settings });
  const client = knowledgeClient(running.address);
  const sql = postgres(database.urls.knowledge, { max: 1, onnotice: () => {} });
  return {
    client,
    sql,
    databaseUrl: database.urls.knowledge,
    users,
    stop: async () => {
      client.close();
      await running.stop();
      await agents.stop();
      await sql.end();
      await database.drop();
    },
  };
}

export function knowledgeClient(address: string): KnowledgeClient {
  return createClient(KnowledgeServiceService, { peer: "knowledge", address, timeoutMs: 30_000 });
}

/** Reads every document as the text that it is, in this process. "Unreadable" has a reason instead, "Grows" a long text. */
export const plainParser: Parser = {
  parse: async ({ bytes, language = "en" }) => {
    const sent = new TextDecoder().decode(bytes);
    const text = sent === "Grows" ? "grows ".repeat(1_000) : sent;
    if (text === "Unreadable") return { reason: "The PDF is encrypted." };
    return { text, language, title: null, chunks: text.split("\n\n").map((each) => ({ heading: "", text: each })) };
  },
};

export interface TestBase {
  ownerId: string;
  knowledgeBaseId: string;
}

export async function newBase(client: KnowledgeClient, ownerId = newOwner(), name = "Prices"): Promise<TestBase> {
  const made = await client.createKnowledgeBase({ ownerId, name, description: "", idempotency: undefined });
  return { ownerId, knowledgeBaseId: made.knowledgeBase?.knowledgeBaseId ?? "" };
}

/** Sends a text as a file. @returns what names it in requests */
export async function sent(client: KnowledgeClient, ownerId: string, text: string, contentType = "text/plain") {
  const [contentId, data] = [newUuid(), Buffer.from(text)];
  await client.addContent({ ownerId, contentId, part: 0, data });
  const sha256 = new Bun.CryptoHasher("sha256").update(data).digest();
  return {
    source: { $case: "stored" as const, value: { contentId, bytes: data.length, sha256, fileName: "", contentType } },
  };
}

export function page(url: string, refreshHours?: number) {
  return { source: { $case: "page" as const, value: { url, refreshHours } } };
}

export const PLAIN = { language: undefined, idempotency: undefined } as const;

/** @returns its id, and whether the base had it */
export async function addDocument(client: KnowledgeClient, base: TestBase, text: string, name = "prices.txt") {
  const content = await sent(client, base.ownerId, text);
  const { document, duplicate } = await client.createDocument({ ...base, ...PLAIN, name, content });
  return { documentId: document?.documentId ?? "", duplicate, status: document?.status };
}

export async function replace(client: KnowledgeClient, base: TestBase, documentId: string, text: string) {
  const content = await sent(client, base.ownerId, text);
  return client.replaceDocument({ ...base, ...PLAIN, documentId, name: undefined, content });
}

/** The document, once no content of it waits any more. */
export function settled(client: KnowledgeClient, base: TestBase, documentId: string): Promise<Document> {
  return eventually(async () => {
    const { document } = await client.getDocument({ ...base, documentId });
    expect(document?.status).not.toBe(PENDING);
    return document as Document;
  });
}

export async function textOf(client: KnowledgeClient, base: TestBase, documentId: string): Promise<string> {
  let text = "";
  for await (const { event } of client.readDocument({ ...base, documentId })) {
    if (event?.$case === "text") text += event.value;
  }
  return text;
}

/** The texts of a document's chunks, in order. */
export async function chunksOf(sql: postgres.Sql, { ownerId }: TestBase, documentId: string): Promise<string[]> {
  const rows = await sql<{ text: string }[]>`
    select text from chunks where owner_id = ${ownerId} and document_id = ${documentId} order by position`;
  return rows.map(({ text }) => text);
}
