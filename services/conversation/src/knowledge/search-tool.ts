import type { KnowledgeUse, ResolvedBase } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { RESULT_BYTES_MAX } from "../store/turns/kept-tool-calls.ts";
import type { Tool, ToolOutcome } from "../tools/tool.ts";
import type { Gathered, Knowledge } from "./knowledge.ts";
import { passagesWithin, sourcesOf } from "./passages.ts";

/** The built-in tool with which a model searches the agent's knowledge bases. @param bases those whose names are known */
export function searchTool(
  knowledge: Pick<Knowledge, "gather">,
  uses: readonly KnowledgeUse[],
  bases: readonly ResolvedBase[],
): Tool {
  return {
    kind: "builtin",
    definition: {
      name: "search_knowledge",
      description: describedBy(bases),
      inputSchema: {
        type: "object",
        properties: {
          query: {
            type: "string",
            description: "What to look for, as a question or as words that the documents may use.",
          },
        },
        required: ["query"],
        additionalProperties: false,
      },
    },
    rules: {
      speech: { before: "auto", delayed: [] },
      interruption: "cancel",
      run: "wait",
      mayRepeat: true,
      // A search has an end of its own before.
      timeoutMs: 5_000,
    },
    run: async ({ input }, { ownerId, channel, log }) => {
      const query = typeof input?.query === "string" ? input.query : "";
      return outcomeOf(await knowledge.gather({ ownerId, uses, query, channel }, log));
    },
  };
}

function describedBy(bases: readonly ResolvedBase[]): string {
  const what =
    "Searches your documents. Use it whenever they may have the answer, before you say that you do not know.";
  if (bases.length === 0) return what;
  const lines = bases.map(({ name, description }) => (description === "" ? `- ${name}` : `- ${name}: ${description}`));
  return `${what} They are:\n${lines.join("\n")}`;
}

function outcomeOf({ chunks, known }: Gathered): ToolOutcome {
  const { text, shown } = passagesWithin(chunks, RESULT_BYTES_MAX);
  const record = { ...known, sources: sourcesOf({ chunks: shown, texts: [] }) };
  if (known.status === "timed_out" || known.status === "unavailable") return { ...UNANSWERED, knowledge: record };
  if (shown.length === 0) return { ...NOTHING_FOUND, knowledge: record };
  return { result: text, isError: false, isOutside: true, knowledge: record };
}

const UNANSWERED = {
  result: "The documents could not be searched. Tell the user that you cannot look it up now.",
  isError: true,
};
const NOTHING_FOUND = {
  result: "Nothing was found. Search with other words, or tell the user that the documents do not say it.",
  isError: false,
};
