import { Type } from "@sinclair/typebox";
import { LlmConfig } from "../agents/shown.ts";
import { Resource } from "../resources.ts";
import { Nullable } from "../types.ts";

export const ModelSetup = Resource("ModelSetup", {
  llm_providers: Type.Array(Type.String(), { description: "Providers of language models that are ready to use." }),
  default_llm: Nullable(LlmConfig, "The model for a new agent, in the form of its `llm`; null if there is none."),
});
