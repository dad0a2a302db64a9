import type { Command } from "commander";
import type { Environment } from "../../connection.ts";
import { examples, parseWholeNumber, verb } from "../../options.ts";
import { formatRecord, formatTable, print, type Value, visible } from "../../print.ts";
import { plainApi } from "../../public-api.ts";
import { addDocumentCommands, baseOf } from "./documents.ts";

interface Shown {
  json?: boolean;
}

type Base = Record<string, Value>;
interface Found {
  name: string;
  heading: string;
  text: string;
  score: number;
  lexical_score: number;
  semantic_score: number | null;
}

const COLUMNS = ["id", "name", "document_count", "chunk_count", "description"];

export function addKnowledgeCommands(program: Command, env: Environment): void {
  const knowledge = program
    .command("knowledge")
    .description("Manage the documents that agents answer from, with the key in PARLEY_API_KEY")
    .addHelpText(
      "after",
      examples(
        program,
        'knowledge create --name "Price lists" --description "Prices and terms of delivery."',
        "knowledge add kb_… prices.pdf --wait",
        "knowledge add kb_… https://shop.example/prices --refresh-hours 24",
        'knowledge search kb_… "What does a small repair cost?"',
      ),
    );
  const api = () => plainApi(env);

  verb(knowledge, "list")
    .description("List the newest 100 knowledge bases")
    .option("--search <text>", "Only those with this text in their name or description")
    .action(async ({ search, json }: Shown & { search?: string }) => {
      const query = new URLSearchParams({ page_size: "100", ...(search && { search }) });
      const list = await api().get<{ knowledge_bases: Base[] }>(`/knowledge-bases?${query}`);
      const rows = list.knowledge_bases;
      await print(json, list, rows.length > 0 ? formatTable(COLUMNS, rows) : "No knowledge bases match.");
    });

  verb(knowledge, "create")
    .description("Create a knowledge base")
    .requiredOption("--name <name>", "Name, up to 100 characters")
    .option("--description <text>", "What is in it: models read it to decide when to search")
    .action(async ({ name, description, json }: Shown & { name: string; description?: string }) => {
      const base = await api().post<Base>("/knowledge-bases", { name, ...(description && { description }) });
      await print(json, base, formatRecord(base));
    });

  addDocumentCommands(program, knowledge, api);

  verb(knowledge, "search")
    .description("Show the chunks that an agent would be given for a question, with their scores")
    .argument("<knowledge_base_id>", "The knowledge base, kb_…")
    .argument("<query>", "The question")
    .option("--max-chunks <number>", "The most chunks, 1 to 50", parseWholeNumber, 6)
    .option("--language <code>", "Only documents of this language, such as en")
    .action(async (baseId: string, query: string, { maxChunks, language, json }: Shown & SearchOptions) => {
      const body = { query, max_chunks: maxChunks, ...(language && { language }) };
      const found = await api().post<{ chunks: Found[] }>(`${baseOf(baseId)}/search`, body);
      await print(json, found, found.chunks.length > 0 ? found.chunks.map(shown).join("\n\n") : "Nothing found.");
    });
}

interface SearchOptions {
  maxChunks: number;
  language?: string;
}

function shown({ name, heading, text, score, lexical_score, semantic_score }: Found): string {
  const meaning = semantic_score === null ? "" : `, meaning ${semantic_score.toFixed(2)}`;
  const scores = `score ${score.toFixed(2)} (words ${lexical_score.toFixed(2)}${meaning})`;
  const title = [name, heading].filter((part) => part !== "").join(" > ");
  const lines = text.split("\n").map((line) => `  ${visible(line)}`);
  return [`${visible(title)}  ${scores}`, ...lines].join("\n");
}
