import type { StsConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type { GetCallSetupResponse } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { ConverseOptions, SpeechToSpeech } from "../../speech/sts.ts";
import type { ToolRules } from "../../turn/events.ts";
import { rulesOf } from "./tools.ts";

/** The model of one agent, with what it is told before it hears anybody. */
export interface StsModel {
  provider: string;
  /** Absent: a draft. */
  agentVersion?: number | undefined;
  sts: SpeechToSpeech;
  conversing: Omit<ConverseOptions, "history" | "continues" | "signal">;
  greeting: string;
  /** How the call waits for a tool. */
  rulesOf(name: string): ToolRules;
  /** The agent to which a tool hands the conversation over; null for another tool. */
  successorOf(name: string): string | null;
}

export function stsModel(
  {
    prompt,
    greeting,
    toolDefinitions,
    agentVersion,
  }: Pick<GetCallSetupResponse, "prompt" | "greeting" | "toolDefinitions" | "agentVersion">,
  { providerName: provider, modelName: model, voiceId, language, params }: StsConfig,
  sts: SpeechToSpeech,
): StsModel {
  const tools = toolDefinitions.map(({ name, description, parameters }) => ({
    ...{ name, description },
    parameters: parameters ?? {},
  }));
  const definitionOf = (name: string) => toolDefinitions.find((tool) => tool.name === name);
  return {
    ...{ provider, agentVersion, sts, greeting },
    conversing: { model, voiceId, language, params: params ?? {}, prompt, tools },
    rulesOf: (name) => rulesOf(definitionOf(name)?.rules),
    successorOf: (name) => definitionOf(name)?.handsOverTo ?? null,
  };
}
