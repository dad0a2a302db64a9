import pg from "pg";

export interface Agent {
  prompt: string;
  llm: { model: string; baseUrl: string; apiKey: string };
}

export interface Message {
  role: "user" | "assistant";
  content: string;
}

export type Store = ReturnType<typeof openStore>;

const CONNECTIONS = 20;

/** The stack's tables. Statements have names, so that each connection prepares them once. */
export function openStore(connectionString: string) {
  const pool = new pg.Pool({ connectionString, max: CONNECTIONS });

  async function query<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    const { rows } = await pool.query<Row>({ name, text, values });
    return rows;
  }

  return {
    async findOwner(digest: Buffer): Promise<string | null> {
      const text = "select owner_id from api_keys where digest = $1 and revoked_at is null";
      const [key] = await query<{ owner_id: string }>("find-owner", text, [digest]);
      return key?.owner_id ?? null;
    },
    async findAgent(ownerId: string, agentId: string): Promise<Agent | null> {
      const text = `
        select p.content as prompt, a.llm
        from agents a join prompts p on p.owner_id = a.owner_id and p.name = a.prompt_name
        where a.owner_id = $1 and a.id = $2`;
      const [agent] = await query<Agent>("find-agent", text, [ownerId, agentId]);
      return agent ?? null;
    },
    async insertConversation(id: string, ownerId: string, agentId: string): Promise<void> {
      const text = "insert into conversations (id, owner_id, agent_id) values ($1, $2, $3)";
      await query("insert-conversation", text, [id, ownerId, agentId]);
    },
    /** Oldest first. */
    async listMessages(ownerId: string, conversationId: string): Promise<Message[]> {
      const text = `
        select m.role, m.content
        from messages m join conversations c on c.id = m.conversation_id
        where c.id = $1 and c.owner_id = $2
        order by m.id`;
      return query<Message>("list-messages", text, [conversationId, ownerId]);
    },
    async insertMessage(conversationId: string, { role, content }: Message): Promise<void> {
      const text = "insert into messages (conversation_id, role, content) values ($1, $2, $3)";
      await query("insert-message", text, [conversationId, role, content]);
    },
  };
}
