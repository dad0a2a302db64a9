import { type Command, InvalidArgumentError } from "commander";
import type { Environment } from "../../connection.ts";
import { examples, parseWholeNumber, verb } from "../../options.ts";
import { type Fields, formatRecord, formatTable, print } from "../../print.ts";
import { plainApi } from "../../public-api.ts";

interface Share {
  agent_version: number;
  weight: number;
}

interface Version {
  agent_version: number;
  published: boolean;
  weight: number;
  created_at: string;
  created_by: string | null;
  note: string | null;
  figures: { conversations: number; outcomes: { shares: Record<string, number> } } | null;
}

interface Published {
  publish: {
    kind: string;
    agent_version: number | null;
    split: Share[] | null;
    note: string | null;
    created_at: string;
  };
  publishing: string;
  became_manual: boolean;
}

interface Agent {
  id: string;
  agent_name: string;
  published_version: number | null;
  latest_version: number;
  updated_at: string;
}

interface PublishOptions {
  note?: string;
  override?: string;
  json?: boolean;
}

const AGENT_COLUMNS = ["id", "agent_name", "published_version", "latest_version", "updated_at"];
const COLUMNS = ["version", "published", "traffic", "conversations", "completed", "created_at", "created_by", "note"];

export function addAgentCommands(program: Command, env: Environment): void {
  const agent = program
    .command("agent")
    .description(
      "List agents, show their versions, and choose those that conversations get, with the key in PARLEY_API_KEY",
    )
    .addHelpText(
      "after",
      examples(
        program,
        "agent list --search repairs",
        "agent versions agt_…",
        'agent publish agt_… 3 --note "Asks for the order number first."',
        "agent traffic agt_… --split 3=10,2=90",
      ),
    );
  const api = () => plainApi(env);

  verb(agent, "list")
    .description("List the newest 100 agents with their IDs")
    .option("--search <text>", "Only those with this text in their name or description")
    .action(async ({ search, json }: { search?: string; json?: boolean }) => {
      const query = new URLSearchParams({ page_size: "100", ...(search && { search }) });
      const list = await api().get<{ agents: Agent[] }>(`/agents?${query}`);
      const rows = list.agents.map((each) => ({ ...each }));
      await print(json, list, rows.length > 0 ? formatTable(AGENT_COLUMNS, rows) : "No agents match.");
    });

  verb(agent, "versions")
    .description("List the newest 100 versions of an agent with what came of their conversations")
    .argument("<agent_id>", "The agent, agt_…")
    .action(async (agentId: string, { json }: { json?: boolean }) => {
      const list = await api().get<{ versions: Version[] }>(`${pathOf(agentId)}/versions?page_size=100`);
      await print(json, list, formatTable(COLUMNS, list.versions.map(shownVersion)));
    });

  publishOptions(verb(agent, "publish"))
    .description("Publish a version: new conversations get it. An older one rolls back")
    .argument("<agent_id>", "The agent, agt_…")
    .argument("<version>", "Number of the version", parseWholeNumber)
    .action(async (agentId: string, version: number, options: PublishOptions) => {
      const done = await api().post<Published>(`${pathOf(agentId)}/versions/${version}/publish`, bodyOf(options));
      await print(options.json, done, shownPublished(done));
    });

  publishOptions(verb(agent, "traffic"))
    .description("Show the versions that new conversations get, or split them between versions")
    .argument("<agent_id>", "The agent, agt_…")
    .option("--split <versions>", "Versions with percents that sum to 100, such as 3=10,2=90", parseSplit)
    .action(async (agentId: string, { split, ...options }: PublishOptions & { split?: Share[] }) => {
      if (split) {
        const done = await api().put<Published>(`${pathOf(agentId)}/traffic`, { split, ...bodyOf(options) });
        return print(options.json, done, shownPublished(done));
      }
      const traffic = await api().get<{ split: Share[] }>(`${pathOf(agentId)}/traffic`);
      const rows = traffic.split.map(({ agent_version, weight }) => ({
        version: agent_version,
        traffic: `${weight} %`,
      }));
      const text = rows.length > 0 ? formatTable(["version", "traffic"], rows) : "No version is published.";
      await print(options.json, traffic, text);
    });
}

function publishOptions(command: Command): Command {
  return command
    .option("--note <text>", "What it is for, in the publish log")
    .option("--override <reason>", "Publish although required tests have not passed; needs the scope agents:override");
}

function pathOf(agentId: string): string {
  return `/agents/${encodeURIComponent(agentId)}`;
}

function bodyOf({ note, override }: PublishOptions): object {
  return { ...(note && { note }), ...(override && { override: { reason: override } }) };
}

function shownVersion({ agent_version, published, weight, figures, ...version }: Version): Fields {
  const completed = figures?.outcomes.shares.COMPLETED;
  return {
    version: agent_version,
    published: published ? "yes" : "",
    traffic: `${weight} %`,
    conversations: figures?.conversations ?? null,
    completed: completed === undefined ? null : `${Math.round(completed * 100)} %`,
    created_at: version.created_at,
    created_by: version.created_by,
    note: version.note,
  };
}

function shownPublished({ publish, publishing, became_manual }: Published): string {
  const split = publish.split?.map(({ agent_version, weight }) => `${agent_version}=${weight}`).join(",");
  const what = publish.agent_version === null ? { split: split ?? "" } : { version: publish.agent_version };
  const record = formatRecord({
    kind: publish.kind,
    ...what,
    note: publish.note,
    created_at: publish.created_at,
    publishing,
  });
  if (!became_manual) return record;
  return `${record}\n\nPublishing is manual now: later changes make versions that you publish yourself.`;
}

function parseSplit(text: string): Share[] {
  return text.split(",").map((each) => {
    const [, version, weight] = /^\s*(\d{1,9})=(\d{1,3})\s*$/.exec(each) ?? [];
    if (version === undefined) throw new InvalidArgumentError("It must be versions with percents, such as 3=10,2=90.");
    return { agent_version: Number(version), weight: Number(weight) };
  });
}
