import { Sections } from "../../../../ui/form/section.tsx";
import type { AgentDraft } from "../draft.ts";
import { BuiltInTools } from "./builtin-tools.tsx";
import { CustomTools } from "./custom-tools.tsx";
import { Handoffs } from "./handoffs.tsx";

/** What the agent can do besides talking. */
export function ToolsTab({ draft }: { draft: AgentDraft }) {
  return (
    <Sections>
      <CustomTools draft={draft} />
      <BuiltInTools draft={draft} />
      <Handoffs draft={draft} />
    </Sections>
  );
}
