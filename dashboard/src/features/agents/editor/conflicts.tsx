import { Button } from "../../../ui/button.tsx";
import { Notice } from "../../../ui/states.tsx";
import type { Changes } from "../agents.ts";
import type { AgentDraft } from "./draft.ts";

/** The fields by the names that the editor has for them. */
const LABELS: Partial<Record<keyof Changes, string>> = {
  agent_name: "Name",
  agent_type: "Type",
  agent_description: "Description",
  agent_category: "Category",
  agent_mobile_number: "Phone numbers",
  first_message_prompt: "Greeting",
  prompt: "Prompt",
  prompt_content: "Prompt",
  tools: "Tools",
  custom_tools: "Your tools",
  handoffs: "Handoffs",
  knowledge: "Knowledge",
  timezone: "Time zone",
  start_webhook: "Start webhook",
  call_settings: "Call settings",
  widget_config: "Website chat",
  stt: "Speech-to-text",
  llm: "Language model",
  tts: "Voice",
  sts: "Speech to speech",
  recording: "Recording",
  whatsapp: "WhatsApp",
  agent_tips: "Tips",
  MediaFiles: "Files",
  call_analysis_enabled: "Analysis",
  call_analysis_prompt: "Analysis prompt",
  call_analysis_schema: "Analysis fields",
};

/** What was changed here, and meanwhile in another tab or by someone else: shows their value and asks which one to keep. */
export function Conflicts({ draft: { conflicts, settle } }: { draft: AgentDraft }) {
  if (conflicts.length === 0) return null;
  return (
    <div className="pt-3">
      <Notice tone="warning">
        <p className="font-medium">
          This agent was changed in another tab or by someone else while you were editing. Your text is kept. Choose
          what to save:
        </p>
        <ul className="mt-2 flex flex-col gap-3">
          {conflicts.map(({ field, theirs }) => {
            const label = LABELS[field] ?? field;
            return (
              <li key={field} className="flex flex-col gap-1.5">
                <p>{label} is now:</p>
                <pre
                  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
                  tabIndex={0}
                  className="max-h-40 overflow-auto rounded-md border border-line bg-raised p-2 font-mono text-[0.8125rem] whitespace-pre-wrap text-ink"
                >
                  {shown(theirs)}
                </pre>
                <div className="flex flex-wrap gap-2">
                  <Button size="small" aria-label={`Keep mine: ${label}`} onClick={() => settle(field, "mine")}>
                    Keep mine
                  </Button>
                  <Button size="small" aria-label={`Use theirs: ${label}`} onClick={() => settle(field, "theirs")}>
                    Use theirs
                  </Button>
                </div>
              </li>
            );
          })}
        </ul>
      </Notice>
    </div>
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined || value === "") return "Nothing";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
