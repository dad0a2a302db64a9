import { type Database, openDatabase } from "@parley/shared/db/database";
import type { PublicAgent } from "../../agents.ts";
import schema from "./schema.sql" with { type: "text" };

export interface Key {
  keyId: string;
  ownerId: string;
  status: string;
  expiresAt: Date | null;
  rateLimitPerMinute: number;
}

const OWNER = "own_1";
const RATE_LIMIT_PER_MINUTE = 1_000_000;

/** A database with one owner, a key and the agents, each with a prompt of one version. */
export async function openStore(url: string, keyDigest: Buffer, agents: Iterable<PublicAgent>): Promise<Database> {
  const db = openDatabase({ url, name: "bench-monolith" });
  await db.unsafe(schema);
  await db`
    insert into api_keys (digest, key_id, owner_id, status, rate_limit_per_minute)
    values (${keyDigest}, 'key_1', ${OWNER}, 'active', ${RATE_LIMIT_PER_MINUTE})`;
  for (const agent of agents) await insertAgent(db, agent);
  await db`analyze`;
  return db;
}

async function insertAgent(db: Database, { id, prompt, MediaFiles, ...columns }: PublicAgent): Promise<void> {
  const { prompt_name, prompt_content } = prompt as { prompt_name: string; prompt_content: string };
  await db`insert into prompts values (${OWNER}, ${prompt_name}, 1)`;
  await db`insert into prompt_versions values (${OWNER}, ${prompt_name}, 1, ${prompt_content})`;
  const row = { ...columns, owner_id: OWNER, agent_id: id, prompt_name, media_files: MediaFiles };
  await db`
    insert into agents
    select agent.*
    from (select ${db.json(row as never)}::jsonb as shown) as given,
      jsonb_populate_record(null::agents, shown || jsonb_build_object('further', shown - array(
        select column_name::text from information_schema.columns where table_name = 'agents'
      ))) as agent`;
}

export async function findKey(db: Database, digest: Buffer): Promise<Key | null> {
  const [key] = await db<Key[]>`
    select key_id, owner_id, status, expires_at, rate_limit_per_minute from api_keys where digest = ${digest}`;
  return key ?? null;
}

export interface AgentRow {
  agentId: string;
  agentName: string;
  agentDescription: string | null;
  agentType: string;
  agentCategory: string;
  agentTips: string[];
  agentMobileNumber: string[];
  stt: object | null;
  llm: object | null;
  tts: object | null;
  callAnalysisEnabled: boolean;
  promptName: string;
  promptVersion: number;
  promptContent: string;
  firstMessagePrompt: string | null;
  dynamicVariables: string[];
  tools: object;
  widgetConfig: object;
  mediaFiles: object[];
  further: object;
  createdAt: Date;
  updatedAt: Date;
}

export async function findAgent(db: Database, ownerId: string, agentId: string): Promise<AgentRow | null> {
  const [agent] = await db<AgentRow[]>`
    select a.agent_id, a.agent_name, a.agent_description, a.agent_type, a.agent_category, a.agent_tips,
      a.agent_mobile_number, a.stt, a.llm, a.tts, a.call_analysis_enabled, a.prompt_name, v.prompt_version,
      v.content as prompt_content, a.first_message_prompt, a.dynamic_variables, a.tools, a.widget_config,
      a.media_files, a.further, a.created_at, a.updated_at
    from agents a
    join prompts p on p.owner_id = a.owner_id and p.prompt_name = a.prompt_name
    join prompt_versions v on v.owner_id = p.owner_id and v.prompt_name = p.prompt_name
      and v.prompt_version = p.latest_version
    where a.owner_id = ${ownerId} and a.agent_id = ${agentId}`;
  return agent ?? null;
}
