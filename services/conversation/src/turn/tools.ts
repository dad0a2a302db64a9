import type { ModelTool, ToolCall } from "../model/port.ts";
import { storable } from "../storable.ts";
import { languageName, parseLanguage } from "./language.ts";

/** As an agent has them: name to true, false or a configuration. */
export type AgentTools = Record<string, unknown> | undefined;

/** What comes of a tool call: something to tell the model, and what it changes in the session. */
export interface ToolOutcome {
  result: string;
  isError: boolean;
  /** The conversation goes on in it: a BCP 47 tag. */
  language?: string;
  /** The conversation ends with this reply. */
  ends?: boolean;
}

interface ChatTool {
  definition(config: ToolConfig): ModelTool;
  run(input: ToolCall["input"], config: ToolConfig): ToolOutcome;
}

type ToolConfig = Readonly<Record<string, unknown>>;

const FAREWELL = "Goodbye!";

/** The agent's tools that work in a chat; the others need a call. */
const CHAT_TOOLS: Readonly<Record<string, ChatTool>> = {
  end_call: {
    definition: () => ({
      name: "end_call",
      description: "Ends the conversation. Use it when the user says goodbye or nothing is left to do.",
      inputSchema: {
        type: "object",
        properties: { message: { type: "string", description: "The last words to the user." } },
        additionalProperties: false,
      },
    }),
    run: () => ({ result: "The conversation ends with this reply.", isError: false, ends: true }),
  },
  set_language: {
    definition: (config) => {
      const languages = languagesOf(config);
      return {
        name: "set_language",
        description:
          "Sets the language of the conversation. Use it when the user asks for another language or goes on in one; then answer in it.",
        inputSchema: {
          type: "object",
          properties: {
            language: {
              type: "string",
              description: "A BCP 47 tag such as es or pt-BR.",
              ...(languages.length > 0 && { enum: languages }),
            },
          },
          required: ["language"],
          additionalProperties: false,
        },
      };
    },
    run: (input, config) => {
      const wanted = parseLanguage(input?.language);
      if (!wanted) return failed('"language" must be a BCP 47 tag such as es or pt-BR.');
      const languages = languagesOf(config);
      const isOffered = languages.length === 0 || languages.some((offered) => parseLanguage(offered) === wanted);
      if (!isOffered) return failed(`This language is not offered. Offered are: ${languages.join(", ")}.`);
      const result = `The conversation goes on in ${languageName(wanted)}. Answer the user in it now.`;
      return { result, isError: false, language: wanted };
    },
  },
};

/** What of an agent's tools a chat can use. */
export function chatTools(tools: AgentTools): ModelTool[] {
  return Object.entries(CHAT_TOOLS).flatMap(([name, tool]) => {
    const config = configOf(tools, name);
    return config ? [tool.definition(config)] : [];
  });
}

/** Does what the model asked for; a call that cannot be is told to the model. */
export function runTool({ name, input }: ToolCall, tools: AgentTools): ToolOutcome {
  const tool = Object.hasOwn(CHAT_TOOLS, name) ? CHAT_TOOLS[name] : undefined;
  const config = configOf(tools, name);
  return tool && config ? tool.run(input, config) : failed("There is no such tool. Answer the user in words.");
}

/** What is said when the model ends the conversation without a word of its own. */
export function farewellOf(calls: readonly ToolCall[], tools: AgentTools): string {
  const end = calls.find((call) => call.name === "end_call");
  const said = [end?.input?.message, configOf(tools, "end_call")?.message];
  const texts = said.map((text) => (typeof text === "string" ? storable(text) : ""));
  return texts.find((text) => text !== "") ?? FAREWELL;
}

/** Null when the agent does not have the tool. */
function configOf(tools: AgentTools, name: string): ToolConfig | null {
  const given = tools && Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (given === true) return {};
  return typeof given === "object" && given !== null ? (given as ToolConfig) : null;
}

function languagesOf({ languages }: ToolConfig): string[] {
  return Array.isArray(languages) ? languages.filter((language) => typeof language === "string") : [];
}

function failed(result: string): ToolOutcome {
  return { result, isError: true };
}
