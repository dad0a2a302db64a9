import { configReader, positiveInteger } from "@parley/shared/config";
import { allowList } from "@parley/shared/egress/allow-list";
import { SERVICE_VARIABLES } from "@parley/shared/process/service";
import { str } from "envalid";
import { EMBEDDINGS_VARIABLES } from "./search/semantic/config.ts";

/** @throws ConfigError naming every variable that is missing or wrong. */
export const readKnowledgeConfig = configReader({
  ...SERVICE_VARIABLES,
  ...EMBEDDINGS_VARIABLES,
  PARLEY_AGENT_ADDRESS: str({ desc: "host:port of the agent service" }),
  PARLEY_ALLOWED_PRIVATE_HOSTS: allowList({ default: [], desc: "private hosts and CIDRs that pages may be on" }),
  PARLEY_KNOWLEDGE_OWNER_BYTES: positiveInteger({
    default: 1024 ** 3,
    desc: "limit for the texts of one owner's documents, and for content that waits to become one",
  }),
  PARLEY_KNOWLEDGE_OWNER_DOCUMENTS: positiveInteger({ default: 10_000, desc: "limit for one owner's documents" }),
});

export type KnowledgeConfig = ReturnType<typeof readKnowledgeConfig>;
