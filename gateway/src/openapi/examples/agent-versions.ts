import { AGENT_EXAMPLE } from "./agents.ts";
import type { OperationExamples } from "./example.ts";
import { TOOL_EXAMPLE } from "./tools.ts";
import { CREATED_AT, KEY_ID, UPDATED_AT } from "./values.ts";

const PROMPT = "Was the caller helped?";

const figures = {
  conversations: 412,
  outcomes: { n: 400, shares: { COMPLETED: 0.87, DISCONNECTED: 0.08, FAILED: 0.05 } },
  call_outcomes: { n: 0, shares: {} },
  tool_failures: { n: 400, share: 0.03 },
  analysis: { helped: { n: 388, share: 0.71 } },
  call_seconds: { n: 0, mean: null },
  text_latency: { replies: 2310, p50_ms: 640, p95_ms: 1490 },
  call_latency: null,
  replies: 2310,
};
const better = {
  ...figures,
  conversations: 398,
  outcomes: { n: 390, shares: { COMPLETED: 0.94, DISCONNECTED: 0.04, FAILED: 0.02 } },
  analysis: { helped: { n: 381, share: 0.8 } },
};

const first = {
  agent_version: 1,
  note: null,
  created_by: `key:${KEY_ID}`,
  created_at: CREATED_AT,
  published: false,
  weight: 10,
};
const second = { ...first, agent_version: 2, created_at: UPDATED_AT, published: true, weight: 90 };

const { created_at: _, updated_at: __, created_by: ___, ...tool } = TOOL_EXAMPLE;

const rollback = {
  number: 3,
  kind: "rollback",
  agent_version: 1,
  split: null,
  note: "Version 2 asks too much.",
  override_reason: null,
  created_by: `key:${KEY_ID}`,
  created_at: UPDATED_AT,
};
const split = [
  { agent_version: 2, weight: 90 },
  { agent_version: 1, weight: 10 },
];
const traffic = {
  ...rollback,
  number: 4,
  kind: "traffic",
  agent_version: null,
  split,
  note: "Try the short greeting.",
};

export const AGENT_VERSION_EXAMPLES: OperationExamples = {
  listAgentVersions: {
    response: {
      versions: [
        { ...second, figures: better },
        { ...first, figures },
      ],
      total: 2,
      page: 1,
      page_size: 10,
      total_pages: 1,
    },
  },
  getAgentVersion: {
    response: {
      ...first,
      agent: AGENT_EXAMPLE,
      analysis_prompt: {
        prompt_name: AGENT_EXAMPLE.call_analysis_prompt.prompt_name,
        prompt_version: 1,
        prompt_content: PROMPT,
      },
      tools: [tool],
    },
  },
  diffAgentVersions: {
    response: {
      from: 1,
      to: 2,
      changes: [
        { field: "agent_description", from: "Answers questions and books appointments.", to: "Answers questions." },
        {
          field: "prompt.prompt_content",
          from: "You answer calls.\nBe brief.\n",
          to: "You answer calls.\nBe brief and kind.\n",
          diff: "--- version 1\n+++ version 2\n@@ -1,2 +1,2 @@\n You answer calls.\n-Be brief.\n+Be brief and kind.\n",
        },
      ],
    },
  },
  compareAgentVersions: {
    response: {
      a: { agent_version: 1, figures },
      b: { agent_version: 2, figures: better },
      differences: [
        { figure: "outcomes.COMPLETED", difference: 0.07, low: 0.0292, high: 0.1112, verdict: "better" },
        { figure: "tool_failures", difference: 0, low: -0.0245, high: 0.0248, verdict: "same" },
        { figure: "analysis.helped", difference: 0.09, low: 0.0294, high: 0.1497 },
        { figure: "text_latency.p95_ms", difference: 0, low: null, high: null },
      ],
    },
  },
  publishAgentVersion: {
    request: { note: "Version 2 asks too much." },
    response: { publish: rollback, publishing: "manual", became_manual: true },
  },
  listAgentPublishes: {
    response: { publishes: [traffic, rollback], total: 4, page: 1, page_size: 10, total_pages: 1 },
  },
  getAgentTraffic: { response: { split } },
  setAgentTraffic: {
    request: { split, note: "Try the short greeting." },
    response: { publish: traffic, publishing: "manual", became_manual: false },
  },
};
