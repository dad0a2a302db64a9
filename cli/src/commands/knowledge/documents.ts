import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError } from "@parley/shared/config";
import { ServiceError } from "@parley/shared/errors";
import type { Command } from "commander";
import { examples, parseWholeNumber, verb } from "../../options.ts";
import { type Fields, formatRecord, formatTable, print, type Value, visibleLines } from "../../print.ts";
import type { PublicApi } from "../../public-api.ts";
import { readStdin } from "../../stdin.ts";

interface Document extends Record<string, Value> {
  id: string;
  status: string;
  error: string | null;
}

interface ContentOptions {
  name?: string;
  language?: string;
  refreshHours?: number;
  wait?: boolean;
  json?: boolean;
}

const COLUMNS = ["id", "name", "status", "language", "chunk_count", "error"];
/** What a person sees of a document; `--json` prints everything. */
const FIELDS = ["id", "name", "status", "error", "language", "bytes", "chunk_count", "embedded_chunks", "url"];
/** A large file takes long on a slow line; the gateway gives it as long. */
const SEND_WITHIN_MS = 300_000;
const LOOK_EVERY_MS = 250;

/** Adds the commands for documents to `parley knowledge`. */
export function addDocumentCommands(program: Command, knowledge: Command, api: () => PublicApi): void {
  verb(knowledge, "documents")
    .description("List the newest 100 documents of a knowledge base, or print the text of one")
    .argument("<knowledge_base_id>", "The knowledge base, kb_…")
    .argument("[document_id]", "Print the text of this document, doc_…")
    .option("--search <text>", "Only those with this text in their name")
    .option("--status <status>", "Only those of this status: PENDING, READY or FAILED")
    .action(async (baseId: string, documentId: string | undefined, { search, status, json }: ListOptions) => {
      if (documentId !== undefined) {
        const one = await api().get<Document>(`${documentOf(baseId, documentId)}?include=text`);
        return print(json, one, visibleLines(String(one.text ?? "")));
      }
      const query = new URLSearchParams({ page_size: "100", ...(search && { search }), ...(status && { status }) });
      const list = await api().get<{ documents: Document[] }>(`${baseOf(baseId)}/documents?${query}`);
      const rows = list.documents;
      await print(json, list, rows.length > 0 ? formatTable(COLUMNS, rows) : "No documents match.");
    });

  contentOptions(verb(knowledge, "add"))
    .description("Add a document: a file, a page, or a text from standard input")
    .argument("<knowledge_base_id>", "The knowledge base, kb_…")
    .argument("<content>", "A file, the address of a page, or - for standard input")
    .addHelpText(
      "after",
      examples(
        program,
        "knowledge add kb_… prices.pdf --wait",
        "knowledge add kb_… https://shop.example/prices --refresh-hours 24",
        "knowledge add kb_… - --name prices.md < prices.md",
      ),
    )
    .action(async (baseId: string, content: string, options: ContentOptions, command: Command) => {
      const body = await bodyOf(content, options, command, { isNew: true });
      const stored = await api().post<Document>(`${baseOf(baseId)}/documents`, body, SEND_WITHIN_MS);
      await showStored(api(), baseId, stored, options);
    });

  contentOptions(verb(knowledge, "replace"))
    .description("Replace a document's content; the old content serves until the new one is read")
    .argument("<knowledge_base_id>", "The knowledge base, kb_…")
    .argument("<document_id>", "The document, doc_…")
    .argument("<content>", "A file, the address of a page, or - for standard input")
    .action(async (baseId: string, documentId: string, content: string, options: ContentOptions, command: Command) => {
      const body = await bodyOf(content, options, command, { isNew: false });
      const stored = await api().put<Document>(documentOf(baseId, documentId), body, SEND_WITHIN_MS);
      await showStored(api(), baseId, stored, options);
    });

  verb(knowledge, "refresh")
    .description("Fetch a document's page now")
    .argument("<knowledge_base_id>", "The knowledge base, kb_…")
    .argument("<document_id>", "The document, doc_…")
    .option("--wait", "Wait until the new content is read")
    .action(async (baseId: string, documentId: string, options: ContentOptions) => {
      const stored = await api().post<Document>(`${documentOf(baseId, documentId)}/refresh`);
      await showStored(api(), baseId, stored, options);
    });

  verb(knowledge, "delete")
    .description("Delete a document, or a knowledge base that no agent uses with all of its documents")
    .argument("<knowledge_base_id>", "The knowledge base, kb_…")
    .argument("[document_id]", "The document, doc_…; without one, the knowledge base is deleted")
    .action(async (baseId: string, documentId: string | undefined, { json }: ContentOptions) => {
      const path = documentId === undefined ? baseOf(baseId) : documentOf(baseId, documentId);
      const deleted = await api().delete<Record<string, Value>>(path);
      await print(json, deleted, formatRecord(deleted));
    });
}

interface ListOptions {
  search?: string;
  status?: string;
  json?: boolean;
}

function contentOptions(command: Command): Command {
  return command
    .option("--name <name>", "Name of the document (default: the file's, or the page's address)")
    .option("--language <code>", "Its language as a code of ISO 639-1, such as en (default: recognized)")
    .option("--refresh-hours <hours>", "Hours between two fetches of a page, 1 to 720", parseWholeNumber)
    .option("--wait", "Wait until the content is read; fails if it cannot be");
}

export function baseOf(baseId: string): string {
  return `/knowledge-bases/${encodeURIComponent(baseId)}`;
}

function documentOf(baseId: string, documentId: string): string {
  return `${baseOf(baseId)}/documents/${encodeURIComponent(documentId)}`;
}

/** @throws ConfigError for a file that cannot be read */
async function bodyOf(
  content: string,
  { name, language, refreshHours }: ContentOptions,
  command: Command,
  { isNew }: { isNew: boolean },
): Promise<object> {
  const isPage = /^https?:\/\//i.test(content);
  if (refreshHours !== undefined && !isPage) command.error("error: --refresh-hours is for pages");
  const given = { ...(name && { name }), ...(language && { language }) };
  if (isPage) return { ...given, url: content, ...(refreshHours !== undefined && { refresh_hours: refreshHours }) };
  if (content === "-") {
    if (!name && isNew) command.error("error: give a --name for standard input");
    return { ...given, text: await readStdin() };
  }
  const file = Bun.file(content);
  if (!(await file.exists())) throw new ConfigError(`${content} cannot be read`);
  const form = new FormData();
  form.append("file", new File([await file.bytes()], basename(content), { type: file.type }));
  for (const [field, value] of Object.entries(given)) form.append(field, value);
  return form;
}

/** @throws ServiceError when the content that was waited for could not be read */
async function showStored(api: PublicApi, baseId: string, stored: Document, options: ContentOptions): Promise<void> {
  const document = options.wait ? await settled(api, baseId, stored) : stored;
  const note = stored.duplicate === true ? "\n\nThe same content was there already." : "";
  const fields = Object.fromEntries(FIELDS.filter((name) => name in document).map((name) => [name, document[name]]));
  await print(options.json, document, `${formatRecord(fields as Fields)}${note}`);
  if (options.wait && document.error !== null) throw new ServiceError("condition", document.error);
}

/** Polls until the content is read or failed: however long that takes, the person may stop it. */
async function settled(api: PublicApi, baseId: string, stored: Document): Promise<Document> {
  let document = stored;
  while (document.status === "PENDING") {
    await sleep(LOOK_EVERY_MS);
    document = await api.get<Document>(documentOf(baseId, stored.id));
  }
  return document;
}
