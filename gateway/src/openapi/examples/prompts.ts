import type { OperationExamples } from "./example.ts";
import { CREATED_AT, ONE_PAGE, PROMPT_LABEL, PROMPT_NAME, UPDATED_AT } from "./values.ts";

const FIRST = "You handle refunds for {{company | Acme}}. The order is {{order number: NUMBER}}.";
const SECOND = "You handle refunds for {{company | Acme}}, kindly. The order is {{order number: NUMBER}}.";

const prompt = {
  prompt_name: PROMPT_NAME,
  prompt_version: 1,
  prompt_content: FIRST,
  prompt_metadata: { prompt_type: "main" },
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
  labels: [],
};
const changed = {
  ...prompt,
  prompt_version: 2,
  prompt_content: SECOND,
  created_at: UPDATED_AT,
  updated_at: UPDATED_AT,
};

export const PROMPT_EXAMPLES: OperationExamples = {
  createPrompt: {
    request: { prompt_name: PROMPT_NAME, prompt_content: FIRST, prompt_metadata: { prompt_type: "main" } },
    response: prompt,
  },
  listPrompts: { response: { prompts: [prompt], ...ONE_PAGE } },
  getPrompt: { response: prompt },
  updatePrompt: { request: { prompt_content: SECOND }, response: changed },
  listPromptVersions: {
    response: {
      prompt_name: PROMPT_NAME,
      versions: [
        { prompt_version: 2, prompt_content: SECOND, created_at: UPDATED_AT, labels: [] },
        { prompt_version: 1, prompt_content: FIRST, created_at: CREATED_AT, labels: [PROMPT_LABEL] },
      ],
      total_versions: 2,
      used_by: [
        { agent_id: "agt_01m7yyhwpyegyarwxc0gvz1xd5", agent_name: "Front desk", prompt_labels: [PROMPT_LABEL] },
      ],
      used_by_total: 1,
    },
  },
  diffPromptVersions: {
    response: {
      prompt_name: PROMPT_NAME,
      from_version: 1,
      to_version: 2,
      diff: `--- version 1\n+++ version 2\n@@ -1,1 +1,1 @@\n-${FIRST}\n\\ No newline at end of file\n+${SECOND}\n\\ No newline at end of file\n`,
      variables_added: [],
      variables_removed: [],
    },
  },
  restorePromptVersion: {
    request: { prompt_version: 1 },
    response: { ...changed, prompt_version: 3, prompt_content: FIRST },
  },
  setPromptLabel: {
    request: { prompt_version: 1 },
    response: { prompt_name: PROMPT_NAME, label: PROMPT_LABEL, prompt_version: 1, updated_at: UPDATED_AT },
  },
  deletePromptLabel: {
    response: {
      message: "Label deleted",
      prompt_name: PROMPT_NAME,
      label: PROMPT_LABEL,
      deleted_at: UPDATED_AT,
    },
  },
  deletePrompt: {
    response: { message: "Prompt deleted", prompt_name: PROMPT_NAME, versions_deleted: 2, deleted_at: UPDATED_AT },
  },
};
