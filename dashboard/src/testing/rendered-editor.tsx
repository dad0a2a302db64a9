import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, RouterContextProvider } from "@tanstack/react-router";
import { renderToString } from "react-dom/server";
import { createAppRouter } from "../app/routes.tsx";
import type { Agent } from "../features/agents/agents.ts";
import { AnalysisTab } from "../features/agents/editor/analysis-tab.tsx";
import { ChannelsTab } from "../features/agents/editor/channels/channels-tab.tsx";
import { type AgentDraft, storedValues } from "../features/agents/editor/draft.ts";
import { KnowledgeTab } from "../features/agents/editor/knowledge/knowledge-tab.tsx";
import { ModelsTab } from "../features/agents/editor/models/models-tab.tsx";
import { PromptTab } from "../features/agents/editor/prompt-tab.tsx";
import { ToolsTab } from "../features/agents/editor/tools/tools-tab.tsx";
import { PublishingSection } from "../features/agents/versions/publishing-section.tsx";
import { VersionNote } from "../features/agents/versions/version-note.tsx";

/** The parts that edit an agent, with the tabs that they are on. */
const PARTS = [
  ["prompt", PromptTab],
  ["models", ModelsTab],
  ["tools", ToolsTab],
  ["knowledge", KnowledgeTab],
  ["analysis", AnalysisTab],
  ["channels", ChannelsTab],
  ["versions", PublishingSection],
  [null, VersionNote],
] as const;

// The examples of the editor begin with it.
globalThis.location ??= new URL("http://localhost/") as never;

/** What the editor reads besides the agent. */
const READ: readonly (readonly [readonly unknown[], unknown])[] = [
  [["models"], { llm: [], default_llm: null }],
  [["speech"], { stt: [], tts: [], sts: [] }],
  [["providers"], { llm: { OPENAI: ["gpt"] }, stt: { DEEPGRAM: ["nova"] }, tts: { OPENAI: ["tts"] } }],
  [["secrets"], [{ name: "stt_key" }]],
  [["mobile-numbers"], [{ mobile_number: "+14155550123" }]],
  [["prompts", "shared"], []],
  [["tools", "library"], { items: [{ id: "tol_1", name: "look_up_order" }], areAll: true }],
  [["knowledge", "all"], { items: [{ id: "kb_1", name: "Prices" }], areAll: true }],
  [["agents", "names"], { byId: new Map([["agt_2", "Billing"]]), areAll: true }],
];

/** The paths of the fields at which the editor of an agent shows the API's messages, with their tabs: it has a control for each of them. */
export async function editedPaths(agent: Agent): Promise<[path: string, tab: string | null][]> {
  const paths = new Map<string, string | null>();
  let shown: string | null = null;
  const draft: AgentDraft = {
    agent,
    values: storedValues(agent),
    changes: {},
    isDirty: false,
    isSavable: false,
    isSaving: false,
    refusal: null,
    note: "",
    conflicts: [],
    entered: new Map(),
    offeredAt: null,
    errorAt: (path) => void paths.set(path, shown),
    save: async () => true,
    ...{ set: ignore, setNote: ignore, discard: ignore, settle: ignore, decide: ignore },
  };
  const client = new QueryClient();
  for (const [queryKey, data] of READ) client.setQueryData(queryKey, data);
  const router = createAppRouter(client, createMemoryHistory({ initialEntries: ["/"] }));
  for (const [tab, Part] of PARTS) {
    shown = tab;
    renderToString(
      <QueryClientProvider client={client}>
        <RouterContextProvider router={router}>
          <Part draft={draft} />
        </RouterContextProvider>
      </QueryClientProvider>,
    );
  }
  return [...paths];
}

function ignore(): void {}
