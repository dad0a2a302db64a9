import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createGroq } from "@ai-sdk/groq";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ProviderSetup } from "@parley/proto/parley/common/v1/common.ts";
import { str, url, type ValidatorSpec } from "envalid";
import { anthropic } from "./answers/anthropic.ts";
import { chatCompletions } from "./answers/chat-completions.ts";
import { gemini } from "./answers/gemini.ts";
import type { Protocol } from "./answers/protocol.ts";
import { responses } from "./answers/responses.ts";

/** How a provider is reached. */
interface Access {
  apiKey: string;
  /** Includes the version in its path, as the provider's package expects. */
  baseURL: string;
  fetch: typeof fetch;
}

interface LlmProvider {
  /** Prefix of the provider's variables: `<prefix>_API_KEY` and `<prefix>_BASE_URL`. */
  prefix: string;
  /** The default address. */
  baseURL: string;
  /** A model of the AI SDK, which writes the requests. */
  create(access: Access, model: string): LanguageModelV4;
  /** How its answers are read. */
  protocol: Protocol;
  /** The provider refuses conversations that start with an assistant message. */
  userFirst?: true;
  /** The provider refuses earlier tool calls in a request without tools. */
  needsTools?: true;
}

const OPENAI = { prefix: "OPENAI", baseURL: "https://api.openai.com/v1" };

/**
 * The standard LLM providers, by the name in an agent's configuration. To add one, add its row here and its models to
 * `services/agent/src/catalogue/data/llm.json`.
 */
export const LLM_PROVIDERS: Readonly<Record<string, LlmProvider>> = {
  OPENAI: { ...OPENAI, create: (access, model) => createOpenAI(access).chat(model), protocol: chatCompletions },
  OPENAI_RESPONSES: {
    ...OPENAI,
    create: (access, model) => createOpenAI(access).responses(model),
    protocol: responses,
  },
  ANTHROPIC: {
    prefix: "ANTHROPIC",
    baseURL: "https://api.anthropic.com/v1",
    create: (access, model) => createAnthropic(access)(model),
    protocol: anthropic,
    userFirst: true,
    needsTools: true,
  },
  GOOGLE: {
    prefix: "GOOGLE",
    baseURL: "https://generativelanguage.googleapis.com/v1beta",
    create: (access, model) => createGoogle(access)(model),
    protocol: gemini,
    userFirst: true,
  },
  GROQ: {
    prefix: "GROQ",
    baseURL: "https://api.groq.com/openai/v1",
    create: (access, model) => createGroq(access)(model),
    protocol: chatCompletions,
  },
  MISTRAL: {
    prefix: "MISTRAL",
    baseURL: "https://api.mistral.ai/v1",
    create: (access, model) => createMistral(access)(model),
    protocol: chatCompletions,
  },
};

/** The variables that hold the providers' keys and addresses. */
export const CREDENTIAL_VARIABLES: Readonly<Record<string, ValidatorSpec<string>>> = Object.fromEntries(
  Object.values(LLM_PROVIDERS).flatMap(({ prefix, baseURL }) => [
    [keyVariableOf(prefix), str({ default: "" })],
    [`${prefix}_BASE_URL`, url({ default: baseURL })],
  ]),
);

type Credential = Pick<Access, "apiKey" | "baseURL">;
/** The operator's settings, by provider prefix. */
export type Credentials = Readonly<Record<string, Credential>>;

/** @param variables the values of `CREDENTIAL_VARIABLES` */
export function credentialsOf(variables: Readonly<Record<string, unknown>>): Credentials {
  return Object.fromEntries(
    Object.values(LLM_PROVIDERS).map(({ prefix }) => {
      const credential = { apiKey: variables[keyVariableOf(prefix)], baseURL: variables[`${prefix}_BASE_URL`] };
      return [prefix, credential as Credential];
    }),
  );
}

/** The variable that holds the key of a provider. */
export function keyVariableOf(prefix: string): string {
  return `${prefix}_API_KEY`;
}

/** The standard providers, and whether the operator has a key for each. */
export function providerSetups(credentials: Credentials): ProviderSetup[] {
  return Object.entries(LLM_PROVIDERS).map(([providerName, { prefix }]) => ({
    providerName,
    keyVariable: keyVariableOf(prefix),
    isReady: (credentials[prefix]?.apiKey ?? "") !== "",
  }));
}
