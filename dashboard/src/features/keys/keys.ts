import { queryOptions } from "@tanstack/react-query";
import { read } from "../../api/client.ts";

export const KEYS = ["keys"] as const;

/** All API keys, newest first. */
export const keysQuery = queryOptions({
  queryKey: KEYS,
  queryFn: async ({ signal }) => (await read(signal, "/v1/manage/keys", { query: { include: "last_use" } })).keys,
});

/** What a key may do, by the API's names and in plain words. */
export const SCOPES = [
  { value: "agents:read", label: "Read agents" },
  { value: "agents:write", label: "Create and change agents" },
  { value: "agents:override", label: "Publish past failing tests" },
  { value: "tests:read", label: "Read agents’ tests and their results" },
  { value: "tests:run", label: "Run agents’ tests" },
  { value: "prompts:read", label: "Read prompts" },
  { value: "prompts:write", label: "Create and change prompts" },
  { value: "tools:read", label: "Read tools" },
  { value: "tools:write", label: "Create, change, and try tools" },
  { value: "knowledge:read", label: "Read and search knowledge bases" },
  { value: "knowledge:write", label: "Create and change knowledge bases and documents" },
  { value: "conversations:read", label: "Read conversations" },
  { value: "conversations:control", label: "Steer running conversations" },
  { value: "conversations:listen", label: "Listen to running calls" },
  { value: "chat", label: "Chat with agents" },
  { value: "messages", label: "Send WhatsApp templates" },
  { value: "calls", label: "Make calls" },
  { value: "catalogue:read", label: "Read providers and voices" },
] as const;
export type Scope = (typeof SCOPES)[number]["value"];
