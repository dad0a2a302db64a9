import type { ModelTool, ToolCall } from "../../model/port.ts";
import type { ScheduledCall } from "../../store/conversations.ts";
import { storable } from "../../store/storable.ts";
import { languageName, parseLanguage } from "./language.ts";

/** An agent's tools, by name: true, false or a configuration. */
export type AgentTools = Record<string, unknown> | undefined;

/** Something to do besides talking, decided by the model of a call. */
export type CallAction =
  | { type: "end_call" }
  | { type: "transfer_call"; phoneNumber: string }
  | { type: "set_language"; language: string }
  | { type: "schedule_call"; call: ScheduledCall };

/** The result of a tool call: the text for the model, and the changes to the session. */
export interface ToolOutcome {
  result: string;
  isError: boolean;
  /** The conversation continues in it: a BCP 47 tag. */
  language?: string;
  /** The conversation ends with this reply. */
  ends?: boolean;
  /** What the runtime of a call must do. */
  action?: CallAction;
}

/** The tools that an agent can be given, by name. */
export type Toolbox = Readonly<Record<string, Tool>>;

export interface Tool {
  /** Whether an agent with this configuration can be given it; absent: always. */
  isUsable?(config: ToolConfig): boolean;
  definition(config: ToolConfig): ModelTool;
  run(input: ToolCall["input"], config: ToolConfig, now: Date): ToolOutcome;
}

export type ToolConfig = Readonly<Record<string, unknown>>;

const FAREWELL = "Goodbye!";

/** The tools that work in a chat; the others need a call (src/calls/call-tools.ts). */
export const CHAT_TOOLS: Toolbox = {
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
    run: () => ({
      result: "The conversation ends with this reply.",
      isError: false,
      ends: true,
      action: { type: "end_call" },
    }),
  },
  set_language: {
    definition: (config) => {
      const languages = languagesOf(config);
      return {
        name: "set_language",
        description:
          "Sets the language of the conversation. Use it when the user asks for another language or switches to one; then answer in it.",
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
      if (!isOffered) return failed(`This language is not available. Available languages: ${languages.join(", ")}.`);
      const result = `The conversation continues in ${languageName(wanted)}. Answer the user in it now.`;
      return { result, isError: false, language: wanted, action: { type: "set_language", language: wanted } };
    },
  },
};

/** Returns the agent's tools that a model is offered. */
export function offeredTools(toolbox: Toolbox, tools: AgentTools): ModelTool[] {
  return Object.entries(toolbox).flatMap(([name, tool]) => {
    const config = usable(tool, configOf(tools, name));
    return config ? [tool.definition(config)] : [];
  });
}

/** Runs a tool call. If that is impossible, the result tells the model so. */
export function runTool({ name, input }: ToolCall, toolbox: Toolbox, tools: AgentTools, now: Date): ToolOutcome {
  const tool = Object.hasOwn(toolbox, name) ? toolbox[name] : undefined;
  const config = tool && usable(tool, configOf(tools, name));
  return tool && config ? tool.run(input, config, now) : failed("There is no such tool. Answer the user in words.");
}

function usable(tool: Tool, config: ToolConfig | null): ToolConfig | null {
  return config && (tool.isUsable?.(config) ?? true) ? config : null;
}

/** The last words when the model ends the conversation, or its part of it, without saying anything. */
export function farewellOf(calls: readonly ToolCall[], tools: AgentTools): string {
  const end = calls.find((call) => call.name === "end_call" || call.name === "transfer_call");
  const said = [end?.input?.message, configOf(tools, end?.name ?? "end_call")?.message];
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

export function failed(result: string): ToolOutcome {
  return { result, isError: true };
}
